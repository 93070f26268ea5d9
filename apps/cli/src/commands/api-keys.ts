/** `platform api-keys`: the keys of programs and their roles. */
import { type JsonObject, type KeyDetails, timestampFromDate } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { authorizationFor } from '../invocation/authorization.ts';
import { withRole } from '../invocation/choice.ts';
import type { Context } from '../invocation/context.ts';
import { defineCommand, group } from '../invocation/define-command.ts';
import { pick } from '../invocation/find.ts';
import { timeAfter } from '../invocation/parse-time.ts';
import { namesOf } from '../results/names.ts';
import { presenter, timeOf } from '../results/presenters.ts';
import { kindsOfRoles, roleOf, rolesField } from '../results/roles.ts';

export function apiKeysCommand(): Command {
  return group('api-keys', 'keys for programs', [list(), create(), rename(), rotate(), expire(), remove()]).alias(
    'api-key',
  );
}

const key = presenter<KeyDetails>({
  id: (one) => one.id,
  name: (one) => one.name,
  created_at: (one) => timeOf(one.createdAt),
  expires_at: (one) => timeOf(one.expiresAt),
  last_used_at: (one) => timeOf(one.lastUsedAt),
  rotated_at: (one) => timeOf(one.rotatedAt),
  overlap_ends_at: (one) => timeOf(one.overlapEndsAt),
});

async function keysOf({ cloud, find }: Context): Promise<readonly KeyDetails[]> {
  const { id } = await find.organization();
  return (await (await cloud()).fleet.listKeyDetails({ organizationId: id })).keys;
}

/** Finds a key by id or name; an id that is not in the list is sent unchanged, and the cloud decides. */
async function keyOf(context: Context, text: string): Promise<{ id: string; name: string }> {
  return /^[0-9a-f-]{36}$/i.test(text) ? { id: text, name: text } : pick('API key', text, await keysOf(context));
}

function expiryOf(when: string, what: string) {
  return when === 'never' ? undefined : timestampFromDate(timeAfter(when, what));
}

function list(): Command {
  return defineCommand(
    new Command('list').description('list the keys that you may manage, without their secrets'),
    {
      examples: ['platform api-keys list', 'platform api-keys list --json=name,last_used_at'],
      fields: [...key.fields, 'roles'],
    },
    async (context) => {
      const [keys, names] = await Promise.all([keysOf(context), namesOf(context, kindsOfRoles)]);
      const rows = keys.map((one): JsonObject => {
        const roles = one.authorizations.map((role) => roleOf({ ...role, organizationId: role.orgId }, names));
        return { ...key.shape(one), roles: rolesField(context.out, roles) };
      });
      context.out.rows(rows, ['name', 'id', 'roles', 'expires_at', 'last_used_at']);
    },
  );
}

function create(): Command {
  return defineCommand(
    withRole(
      new Command('create')
        .description('create a key and print its secret, which is shown only once')
        .argument('<name>'),
    ).option('--expires <when>', 'when the key expires: a duration such as 90d or 12h, or a time (default: never)'),
    {
      examples: [
        'platform api-keys create dashboard --role operator --expires 90d',
        'platform api-keys create press --role owner --machine press-7 --json',
      ],
      fields: ['id', 'key'],
    },
    async (context, flags, name = '') => {
      const authorization = await authorizationFor(context, flags);
      const expiresAt = expiryOf(flags['expires'] ?? 'never', '--expires');
      const { id, key } = await (await context.cloud()).fleet.createExpiringKey({
        name,
        authorizations: [authorization],
        expiresAt,
      });
      context.out.object({ id, key });
      context.out.note('Save the key now: it is not shown again.');
    },
  );
}

function rename(): Command {
  return defineCommand(
    new Command('rename').description('rename a key').argument('<key>', 'name or id').argument('<name>'),
    { examples: ['platform api-keys rename dashboard "wall display"'], fields: ['id', 'name'] },
    async (context, _flags, text = '', name = '') => {
      const { id } = await keyOf(context, text);
      const renamed = await (await context.cloud()).app.renameKey({ id, name });
      context.out.object({ id: renamed.id, name: renamed.name });
    },
  );
}

function rotate(): Command {
  return defineCommand(
    new Command('rotate')
      .description('give a key a new secret; the old one keeps working for the overlap, one day by default')
      .argument('<key>', 'name or id'),
    { examples: ['platform api-keys rotate dashboard'], fields: ['id', 'key'] },
    async (context, _flags, text = '') => {
      const { id } = await keyOf(context, text);
      const rotated = await (await context.cloud()).app.rotateKey({ id });
      context.out.object({ id: rotated.id, key: rotated.key });
      context.out.note('Save the key now: it is not shown again.');
    },
  );
}

function expire(): Command {
  return defineCommand(
    new Command('expire')
      .description('change when a key expires')
      .argument('<key>', 'name or id')
      .argument('<when>', 'a duration such as 90d, a time, or never'),
    { examples: ['platform api-keys expire dashboard 30d', 'platform api-keys expire dashboard never'] },
    async (context, _flags, text = '', when = '') => {
      const { id, name } = await keyOf(context, text);
      const expiresAt = expiryOf(when, 'when');
      await (await context.cloud()).fleet.setKeyExpiry({ id, expiresAt });
      context.out.note(
        expiresAt === undefined ? `key "${name}" never expires` : `key "${name}" expires at ${timeOf(expiresAt)}`,
      );
    },
  );
}

function remove(): Command {
  return defineCommand(
    new Command('delete')
      .alias('revoke')
      .description('delete a key; its clients lose access within 5 s')
      .argument('<key>', 'name or id'),
    { examples: ['platform api-keys delete dashboard --yes'] },
    async (context, _flags, text = '') => {
      const { id, name } = await keyOf(context, text);
      await context.confirm(`Delete the key "${name}" (${id})? Programs that use it lose access within 5 s.`);
      await (await context.cloud()).app.deleteKey({ id });
      context.out.note(`key "${name}" is deleted`);
    },
  );
}
