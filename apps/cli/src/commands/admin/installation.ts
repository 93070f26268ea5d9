/** `platform admin status`, `doctor`, `audit`, `organizations` and `rotate-instance-key`. */
import { dataLoss, invalidArgument } from '@platform/base/refusals';
import type { JsonObject } from '@platform/sdk/cloud';
import { Command, Option } from 'commander';
import { group } from '../../invocation/define-command.ts';
import { actorName, snakeKeys } from '../../results/presenters.ts';
import { defineAdminCommand, organizationNamed, organizationsOf, timeText } from './define-admin-command.ts';

export function statusCommand(): Command {
  return defineAdminCommand(
    new Command('status').description('show whether the cloud is running, its address, and what it stores'),
    {
      examples: ['platform admin status', 'platform admin status --json=ca_fingerprint'],
      fields: [
        ...['running', 'data_directory', 'version', 'data_version', 'process_id', 'started_at', 'url'],
        ...['ca_fingerprint', 'organizations', 'private_webhook_targets', 'allowed_webhook_targets'],
        ...['last_position', 'sealed_position'],
        ...['loaded_position', 'unsealed_bytes', 'uploads_slowed', 'retained_bytes', 'free_bytes'],
        ...['free_bytes_for_uploads', 'damaged_files', 'losses', 'damaged_catalog', 'damaged_rows'],
        ...[
          'instance_key',
          'instance_key_place',
          'deletions_held',
          'undelivered_webhooks',
          'undelivered_mails',
          'undelivered_pushes',
        ],
      ],
    },
    async (ask, { out }) => {
      const status = withStart(snakeKeys((await ask('status')) as JsonObject) as JsonObject);
      out.object(out.style.json === false ? forPeople(status) : status);
    },
  );
}

/** Replaces the milliseconds of the start time by the usual format. */
function withStart(status: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(status).map(([name, value]) =>
      name === 'started_ms' ? ['started_at', timeText(value)] : [name, value],
    ),
  );
}

/** A stopped cloud does not check its files. */
function forPeople(status: JsonObject): JsonObject {
  const { running, damaged_files: damaged } = status;
  if (running !== false) return status;
  const known = Array.isArray(damaged) ? damaged : [];
  const unknown = `${known.length > 0 ? 'others are ' : ''}unknown while the cloud is stopped; platform admin doctor --deep checks all files`;
  return { ...status, damaged_files: [...known, unknown] };
}

interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly found: string;
}

export function doctorCommand(): Command {
  return defineAdminCommand(
    new Command('doctor')
      .description('check that all data is present and undamaged; changes nothing')
      .option('--deep', 'also read every file and compare it with its checksum'),
    { examples: ['platform admin doctor', 'platform admin doctor --deep'], fields: ['check', 'ok', 'found'] },
    async (ask, { out }, flags) => {
      const findings = (await ask('doctor', { deep: flags['deep'] === true })) as Finding[];
      out.rows(
        findings.map(({ check, ok, found }) => ({ check, ok, found })),
        ['ok', 'check', 'found'],
      );
      const wrong = findings.filter(({ ok }) => !ok).length;
      if (wrong > 0) throw dataLoss(`${wrong} of ${findings.length} checks failed`);
    },
  );
}

export function auditCommand(): Command {
  return defineAdminCommand(
    new Command('audit')
      .description('show who changed what, newest first')
      .option('--organization <name>', 'name or id: only changes in this organization')
      .option('--limit <number>', 'maximum number of entries, up to 1000', '100')
      .addOption(new Option('--before <id>', 'only entries before this one, to get the next page')),
    {
      examples: ['platform admin audit', 'platform admin audit --json=at,action,actor'],
      fields: [
        ...['id', 'at', 'actor_kind', 'actor', 'action', 'organization_id', 'organization'],
        ...['target_kind', 'target_id', 'target', 'detail', 'peer_address'],
      ],
    },
    async (ask, { out }, flags) => {
      const { organization } = flags;
      const within = organization === undefined ? undefined : await organizationNamed(ask, String(organization));
      const names = new Map((await organizationsOf(ask)).map(({ id, name }) => [id, name]));
      const entries = (await ask('audit', {
        limit: numberOf(flags['limit'], '--limit'),
        ...(flags['before'] !== undefined && { before: numberOf(flags['before'], '--before') }),
        ...(within !== undefined && { organizationId: within.id }),
      })) as Record<string, never>[];
      out.rows(
        entries.map((entry) => ({
          id: entry['id'] ?? 0,
          at: timeText(entry['atMs']),
          actor_kind: entry['actorKind'] ?? '',
          actor: actorName(entry['actorKind'] ?? '', entry['actorName'] ?? '', entry['actorId'] ?? ''),
          action: entry['action'] ?? '',
          organization_id: entry['organizationId'] ?? null,
          organization: names.get(String(entry['organizationId'])) ?? null,
          target_kind: entry['targetKind'] ?? '',
          target_id: entry['targetId'] ?? '',
          target: entry['targetName'] ?? (out.style.json === false ? (entry['targetId'] ?? null) : null),
          detail: snakeKeys(entry['detail'] ?? {}),
          peer_address: entry['peerAddress'] ?? '',
        })),
        ['at', 'actor_kind', 'actor', 'action', 'organization', 'target_kind', 'target'],
      );
    },
  );
}

export function adminOrganizationsCommand(): Command {
  return group('organizations', 'the organizations of this installation', [listOrganizations(), createOwnerLink()]);
}

function listOrganizations(): Command {
  return defineAdminCommand(
    new Command('list').description('list the ids and names of all organizations'),
    { examples: ['platform admin organizations list'], fields: ['id', 'name', 'created_at'] },
    async (ask, { out }) => {
      out.rows(
        (await organizationsOf(ask)).map(({ id, name, createdMs }) => ({ id, name, created_at: timeText(createdMs) })),
        ['name', 'id', 'created_at'],
      );
    },
  );
}

function createOwnerLink(): Command {
  return defineAdminCommand(
    new Command('create-owner-link')
      .description('create a one-time sign-in link for an owner who can no longer sign in')
      .argument('<organization>', 'name or id')
      .option('--email <address>', 'which owner (default: the longest-standing one)'),
    {
      examples: ['platform admin organizations create-owner-link "My organization"'],
      fields: ['link', 'email', 'expires_at'],
    },
    async (ask, { out }, flags, text = '') => {
      const { id: organizationId } = await organizationNamed(ask, text);
      const { url = '' } = (await ask('status')) as { url?: string };
      const made = (await ask('organizations.create-owner-link', {
        organizationId,
        ...(flags['email'] !== undefined && { email: String(flags['email']) }),
      })) as { path: string; email: string | null; expiresMs: number };
      out.object({ link: `${url}${made.path}`, email: made.email, expires_at: timeText(made.expiresMs) });
      if (url === '') out.note('The cloud is not running. Put its address in front of the link.');
    },
  );
}

export function rotateInstanceKeyCommand(): Command {
  return defineAdminCommand(
    new Command('rotate-instance-key')
      .description('encrypt every secret with a new instance key; keys, secrets and sessions stay valid')
      .option('--end-sessions', 'invalidate every token issued so far; use it if the old key may be known to others'),
    {
      examples: ['platform admin rotate-instance-key', 'platform admin rotate-instance-key --end-sessions'],
      fields: ['from', 'to', 'resealed'],
    },
    async (ask, context, flags) => {
      const endSessions = flags['endSessions'] === true;
      if (endSessions)
        await context.confirm('Every client must sign in again, and machine-servers may need a restart. Continue?');
      context.out.object((await ask('rotate-instance-key', { endSessions })) as JsonObject);
      context.out.note('Earlier backups still need the old key.');
    },
  );
}

function numberOf(value: unknown, name: string): number {
  if (/^\d+$/.test(String(value))) return Number(value);
  throw invalidArgument(`${name}: expected a whole number, found "${value}"`);
}
