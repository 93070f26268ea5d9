/** `platform organizations`: list, create, change and delete organizations. */
import type { AuditEntry, JsonObject, JsonValue, Organization } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand, group } from '../invocation/define-command.ts';
import { parseObject } from '../invocation/input.ts';
import { readPages } from '../invocation/read-pages.ts';
import { wholeNumber } from '../invocation/whole-number.ts';
import { namesOf } from '../results/names.ts';
import { actorName, presenter, snakeKeys, timeOf } from '../results/presenters.ts';
import { pushConfigCommand } from './push-config.ts';
import { webhookSecretCommand } from './webhook-secret.ts';

export function organizationsCommand(): Command {
  return group('organizations', 'organizations that you belong to', [
    list(),
    get(),
    create(),
    update(),
    remove(),
    audit(),
    pushConfigCommand(),
    webhookSecretCommand(),
  ]).alias('orgs');
}

/** In which notifications by e-mail write times. */
const zoneField = 'time_zone';
const { fields, shape } = presenter<Organization>({
  id: (one) => one.id,
  name: (one) => one.name,
  public_namespace: (one) => one.publicNamespace || null,
  region: (one) => one.defaultRegion || null,
  created_at: (one) => timeOf(one.createdOn),
});

function list(): Command {
  return defineCommand(
    new Command('list').description('list the organizations in which you have a role'),
    { examples: ['platform organizations list', 'platform organizations list --json=id,name'], fields },
    async ({ cloud, out }) => {
      const { organizations } = await (await cloud()).app.listOrganizations({});
      out.rows(organizations.map(shape), ['name', 'id', 'created_at']);
    },
  );
}

function get(): Command {
  return defineCommand(
    new Command('get').description('show one organization').argument('[organization]', 'name or id'),
    {
      examples: ['platform organizations get', 'platform organizations get "My organization" --json'],
      fields: [...fields, zoneField],
    },
    async ({ cloud, out, find }, _flags, text) => {
      const { id } = await find.organization(text);
      const { app, fleet } = await cloud();
      const [{ organization }, { timeZone }] = await Promise.all([
        app.getOrganization({ organizationId: id }),
        fleet.getOrganizationTimeZone({ organizationId: id }),
      ]);
      if (organization !== undefined) out.object({ ...shape(organization), [zoneField]: timeZone || 'UTC' });
    },
  );
}

function create(): Command {
  return defineCommand(
    new Command('create').description('create an organization; you become its owner').argument('<name>'),
    { examples: ['platform organizations create "Second plant"'], fields },
    async ({ cloud, login, out }, _flags, name = '') => {
      const { app } = await cloud();
      const { organizations } = await app.listOrganizations({});
      // Before it is created: scripts with this login fail from then on unless they name the organization.
      if (organizations.length === 1 && (await login()).organization === '')
        out.note(
          `This login belongs to one organization so far, "${organizations[0]?.name}". From now on, commands with it have to name the organization: add --organization ${organizations[0]?.id} for that one, or make it the default: platform profiles organization ${organizations[0]?.id}. Nothing changes for other people and keys`,
        );
      const { organization } = await app.createOrganization({ name });
      if (organization === undefined) return;
      out.object(shape(organization));
      if (organizations.length > 0)
        out.note(
          `To use the new one, add --organization ${organization.id} to a command, or make it the default of your login: platform profiles organization ${organization.id}`,
        );
    },
  );
}

function update(): Command {
  return defineCommand(
    new Command('update')
      .description('rename an organization, or set its public namespace or time zone')
      .argument('[organization]', 'name or id')
      .option('--name <name>', 'new name')
      .option('--public-namespace <namespace>', 'name under which others find its public fragments')
      .option(
        '--time-zone <name>',
        'IANA time zone in which its mails write times, unless a recipient has chosen another',
      ),
    {
      examples: [
        'platform organizations update "My organization" --name "North plant"',
        'platform organizations update --time-zone Europe/Berlin',
      ],
      fields,
    },
    async ({ cloud, out, find }, flags, text) => {
      const { id } = await find.organization(text);
      const { app, fleet } = await cloud();
      const timeZone = flags['timeZone'];
      if (timeZone !== undefined) await fleet.setOrganizationTimeZone({ organizationId: id, timeZone });
      const { organization } = await app.updateOrganization({
        organizationId: id,
        name: flags['name'],
        publicNamespace: flags['publicNamespace'],
      });
      if (organization !== undefined) out.object(shape(organization));
    },
  );
}

function remove(): Command {
  return defineCommand(
    new Command('delete')
      .description('delete an organization that has no locations')
      .argument('<organization>', 'name or id'),
    { examples: ['platform organizations delete "Second plant" --yes'] },
    async ({ cloud, out, find, confirm }, _flags, text) => {
      const { id, name } = await find.organization(text);
      await confirm(`Delete the organization "${name}" (${id})? This cannot be undone.`);
      await (await cloud()).app.deleteOrganization({ organizationId: id });
      out.note(`organization "${name}" is deleted`);
    },
  );
}

/** An object whose fields depend on the action. */
function detailOf({ detail }: AuditEntry): JsonValue {
  return detail === '' ? {} : snakeKeys(parseObject(detail, 'detail of an audit entry'));
}

const auditEntry = presenter<AuditEntry>({
  id: (one) => String(one.id),
  at: (one) => timeOf(one.at),
  actor_kind: (one) => one.actor?.kind ?? '',
  actor: (one) => actorName(one.actor?.kind ?? '', one.actor?.name ?? '', one.actor?.id ?? ''),
  action: (one) => one.action,
  target_kind: (one) => one.targetKind,
  target_id: (one) => one.targetId,
  detail: detailOf,
  peer_address: (one) => one.peerAddress,
});

function audit(): Command {
  return defineCommand(
    new Command('audit')
      .description('show who changed what in an organization, newest first')
      .argument('[organization]', 'name or id')
      .option('--limit <number>', 'maximum number of entries', '50')
      .option('--target <id>', 'only changes to the organization, location, machine, part, key, … with this id'),
    {
      examples: ['platform organizations audit', 'platform organizations audit --limit 500 --json'],
      fields: [...auditEntry.fields, 'target'],
    },
    async (context, flags, text) => {
      const { cloud, out, find } = context;
      const { id } = await find.organization(text);
      const { fleet } = await cloud();
      const targetId = String(flags['target'] ?? '');
      const entries = await readPages(
        wholeNumber(flags['limit'], '--limit') ?? 50,
        1_000,
        async (pageLimit, pageToken) => {
          const page = await fleet.listAuditEntries({ organizationId: id, pageLimit, targetId, pageToken });
          return { items: page.entries, nextPageToken: page.nextPageToken };
        },
      );
      const kinds = entries.map(({ targetKind }) => targetKind);
      const names = await namesOf(context, kinds, id);
      const rows = entries.map((entry): JsonObject => {
        const shown = auditEntry.shape(entry);
        const target = names.get(entry.targetId) ?? Object(shown['detail'])['name'] ?? null;
        return { ...shown, target };
      });
      out.rows(
        out.style.json === false
          ? rows.map((row) => ({ ...row, target: row['target'] ?? row['target_id'] ?? null }))
          : rows,
        ['at', 'actor', 'action', 'target_kind', 'target'],
      );
    },
  );
}
