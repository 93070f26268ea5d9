/** `platform organizations`: list, create, change and delete organizations. */
import { type JsonObject, type Organization, timestampDate } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand, group } from '../invocation/define-command.ts';
import { wholeNumber } from './config/configuration.ts';

const fields = ['id', 'name', 'public_namespace', 'region', 'created_at'];

export function organizationsCommand(): Command {
  return group('organizations', 'organizations that you belong to', [
    list(),
    get(),
    create(),
    update(),
    remove(),
    audit(),
  ]).alias('orgs');
}

function shape(one: Organization): JsonObject {
  return {
    id: one.id,
    name: one.name,
    public_namespace: one.publicNamespace,
    region: one.defaultRegion,
    created_at: one.createdOn === undefined ? null : timestampDate(one.createdOn).toISOString(),
  };
}

function list(): Command {
  return defineCommand(
    new Command('list').description('list the organizations in which you have a role'),
    { examples: ['platform organizations list', 'platform organizations list --json=id,name'], fields },
    async ({ cloud, out, signal }) => {
      const { organizations } = await (await cloud()).app.listOrganizations({}, { signal });
      out.rows(organizations.map(shape), ['name', 'id', 'created_at']);
    },
  );
}

function get(): Command {
  return defineCommand(
    new Command('get').description('show one organization').argument('[organization]', 'name or id'),
    { examples: ['platform organizations get', 'platform organizations get "My organization" --json'], fields },
    async ({ cloud, out, find, signal }, _flags, text) => {
      const { id } = await find.organization(text);
      const { organization } = await (await cloud()).app.getOrganization({ organizationId: id }, { signal });
      if (organization !== undefined) out.object(shape(organization));
    },
  );
}

function create(): Command {
  return defineCommand(
    new Command('create').description('create an organization; you become its owner').argument('<name>'),
    { examples: ['platform organizations create "Second plant"'], fields },
    async ({ cloud, out, signal }, _flags, name = '') => {
      const { app } = await cloud();
      const { organization } = await app.createOrganization({ name }, { signal });
      if (organization === undefined) return;
      out.object(shape(organization));
      const { organizations } = await app.listOrganizations({}, { signal });
      if (organizations.length > 1)
        out.note(
          `You now belong to ${organizations.length} organizations. Add --organization ${organization.id} to a command to use this one, or make it the default of your login: platform profiles organization ${organization.id}`,
        );
    },
  );
}

function update(): Command {
  return defineCommand(
    new Command('update')
      .description('rename an organization or set its public namespace')
      .argument('[organization]', 'name or id')
      .option('--name <name>', 'new name')
      .option('--public-namespace <namespace>', 'name under which others find its public fragments'),
    { examples: ['platform organizations update "My organization" --name "North plant"'], fields },
    async ({ cloud, out, find, signal }, flags, text) => {
      const { id } = await find.organization(text);
      const { organization } = await (await cloud()).app.updateOrganization(
        {
          organizationId: id,
          ...(flags['name'] === undefined ? {} : { name: String(flags['name']) }),
          ...(flags['publicNamespace'] === undefined ? {} : { publicNamespace: String(flags['publicNamespace']) }),
        },
        { signal },
      );
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
    async ({ cloud, out, find, confirm, signal }, _flags, text) => {
      const { id, name } = await find.organization(text);
      await confirm(`Delete the organization "${name}" (${id})? This cannot be undone.`);
      await (await cloud()).app.deleteOrganization({ organizationId: id }, { signal });
      out.note(`organization "${name}" is deleted`);
    },
  );
}

function audit(): Command {
  return defineCommand(
    new Command('audit')
      .description('show who changed what in an organization, newest first')
      .argument('[organization]', 'name or id')
      .option('--limit <number>', 'maximum number of entries', '50')
      .option('--target <id>', 'only changes to this organization, location, machine, part, key, …'),
    {
      examples: ['platform organizations audit', 'platform organizations audit --limit 500 --json'],
      fields: ['id', 'at', 'actor_kind', 'actor', 'action', 'target_kind', 'target_id', 'detail', 'from'],
    },
    async ({ cloud, out, find, signal }, flags, text) => {
      const { id } = await find.organization(text);
      const rows: JsonObject[] = [];
      const limit = wholeNumber(flags['limit'], '--limit') ?? 50;
      let pageToken = '';
      do {
        const { entries, nextPageToken } = await (await cloud()).fleet.listAuditEntries(
          {
            organizationId: id,
            pageLimit: Math.min(limit - rows.length, 1_000),
            targetId: String(flags['target'] ?? ''),
            ...(pageToken === '' ? {} : { pageToken }),
          },
          { signal },
        );
        for (const entry of entries) {
          rows.push({
            id: String(entry.id),
            at: entry.at === undefined ? null : timestampDate(entry.at).toISOString(),
            actor_kind: entry.actor?.kind ?? '',
            actor: entry.actor?.name || (entry.actor?.id ?? ''),
            action: entry.action,
            target_kind: entry.targetKind,
            target_id: entry.targetId,
            detail: entry.detail,
            from: entry.peerAddress,
          });
        }
        pageToken = nextPageToken;
      } while (pageToken !== '' && rows.length < limit);
      out.rows(rows, ['at', 'actor', 'action', 'target_kind', 'target_id']);
    },
  );
}
