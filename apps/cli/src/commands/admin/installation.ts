/** `platform admin status`, `doctor`, `audit`, `organizations` and `rotate-instance-key`. */
import { type JsonObject, PlatformError } from '@platform/sdk/cloud';
import { Command, Option } from 'commander';
import { group } from '../../invocation/define-command.ts';
import { defineAdminCommand, timeText } from './define-admin-command.ts';

export function statusCommand(): Command {
  return defineAdminCommand(
    new Command('status').description('show whether the cloud is running, its address, and what it stores'),
    {
      examples: ['platform admin status', 'platform admin status --json=caFingerprint'],
      fields: [
        ...['running', 'dataDirectory', 'version', 'dataVersion', 'processId', 'startedMs', 'url', 'caFingerprint'],
        ...['organizations', 'privateWebhookTargets', 'lastPosition', 'sealedPosition', 'loadedPosition'],
        ...['unsealedBytes', 'uploadsSlowed', 'retainedBytes', 'freeBytes', 'freeBytesForUploads', 'damagedFiles'],
        ...['losses', 'damagedCatalog', 'instanceKey', 'instanceKeyPlace', 'deletionsHeld', 'undeliveredWebhooks'],
        'undeliveredMails',
      ],
    },
    async (ask, { out }) => {
      const status = (await ask('status')) as JsonObject;
      out.object(out.style.json === false ? forPeople(status) : status);
    },
  );
}

/** A stopped cloud does not check its files. */
function forPeople(status: JsonObject): JsonObject {
  const { running, damagedFiles } = status;
  if (running !== false) return status;
  const unknown = `${Array.isArray(damagedFiles) ? 'others are ' : ''}unknown while the cloud is stopped; platform admin doctor --deep checks all files`;
  return { ...status, damagedFiles: [...(Array.isArray(damagedFiles) ? damagedFiles : []), unknown] };
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
      if (wrong > 0) throw new PlatformError('data_loss', `${wrong} of ${findings.length} checks failed`);
    },
  );
}

export function auditCommand(): Command {
  return defineAdminCommand(
    new Command('audit')
      .description('show who changed what, newest first')
      .option('--organization-id <id>', 'only changes in this organization')
      .option('--limit <number>', 'maximum number of entries, up to 1000', '100')
      .addOption(new Option('--before <id>', 'only entries before this one, to get the next page')),
    {
      examples: ['platform admin audit', 'platform admin audit --json=at,action,actor'],
      fields: ['id', 'at', 'actor_kind', 'actor', 'action', 'organization_id', 'target', 'detail', 'peer_address'],
    },
    async (ask, { out }, flags) => {
      const entries = (await ask('audit', {
        limit: numberOf(flags['limit'], '--limit'),
        ...(flags['before'] !== undefined && { before: numberOf(flags['before'], '--before') }),
        ...(flags['organizationId'] !== undefined && { organizationId: String(flags['organizationId']) }),
      })) as Record<string, never>[];
      out.rows(
        entries.map((entry) => ({
          id: entry['id'] ?? 0,
          at: timeText(entry['atMs']),
          actor_kind: entry['actorKind'] ?? '',
          actor: String(entry['actorName'] || entry['actorId'] || ''),
          action: entry['action'] ?? '',
          organization_id: entry['organizationId'] ?? null,
          target: `${entry['targetKind']} ${entry['targetId']}`.trim(),
          detail: entry['detail'] ?? {},
          peer_address: entry['peerAddress'] ?? '',
        })),
        ['at', 'actor_kind', 'actor', 'action', 'target'],
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
      const all = (await ask('organizations.list')) as { id: string; name: string; createdMs: number }[];
      out.rows(
        all.map(({ id, name, createdMs }) => ({ id, name, created_at: timeText(createdMs) })),
        ['name', 'id', 'created_at'],
      );
    },
  );
}

function createOwnerLink(): Command {
  return defineAdminCommand(
    new Command('create-owner-link')
      .description('create a one-time sign-in link for an owner who can no longer sign in')
      .argument('<organization-id>')
      .option('--email <address>', 'which owner (default: the longest-standing one)'),
    { examples: ['platform admin organizations create-owner-link 3f2c…'], fields: ['link', 'email', 'expires_at'] },
    async (ask, { out }, flags, organizationId = '') => {
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
  throw new PlatformError('invalid_argument', `${name}: expected a whole number, found "${value}"`);
}
