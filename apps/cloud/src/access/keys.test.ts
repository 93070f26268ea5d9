import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import {
  CreateKeyFromExistingKeyAuthorizationsRequestSchema,
  CreateKeyRequestSchema,
  DeleteKeyRequestSchema,
  GetRobotAPIKeysRequestSchema,
  ListKeysRequestSchema,
  RenameKeyRequestSchema,
  RotateKeyRequestSchema,
} from '@platform/proto/platform/app/v1/app';
import {
  CreateExpiringKeyRequestSchema,
  ListKeyDetailsRequestSchema,
  SetKeyExpiryRequestSchema,
} from '@platform/proto/platform/fleet/v1/fleet';
import { expect, test } from 'vitest';
import type { Grant } from './principal.ts';
import { ask, type Fleet, on, openFleet } from './testing/open-fleet.ts';

const address = '127.0.0.1:1';
const hourMs = 3_600_000;
const ownerOf = (level: 'organization' | 'location' | 'robot', id: string) => ({
  authorizationType: 'role',
  authorizationId: `${level}_owner`,
  resourceType: level,
  resourceId: id,
  organizationId: '',
  identityId: '',
  identityType: 'api-key',
});
const signIn = (fleet: Fleet, id: string, key: string): Promise<string> =>
  fleet.authenticator.signIn({ entity: id, type: 'api-key', payload: key }, address);

test('D5 after a rotation the old secret and its tokens work until the overlap ends; the new ones work at once', async () => {
  const fleet = await openFleet();
  const owner = await fleet.keyWith(on.organization('owner'));
  const caller = await fleet.principalOf(owner.token);
  const rotated = await ask(fleet.handlers.app.rotateKey, RotateKeyRequestSchema, { id: owner.id }, caller);
  expect(rotated).toMatchObject({ id: owner.id });
  expect(rotated.key).not.toBe(owner.key);

  const newToken = await signIn(fleet, owner.id, rotated.key ?? '');
  await fleet.clock.advance(24 * hourMs - 10_000);
  await expect(fleet.principalOf(owner.token)).resolves.toMatchObject({ keyId: owner.id });
  await expect(signIn(fleet, owner.id, owner.key)).resolves.toBe(owner.token);

  await fleet.clock.advance(15_000);
  await expect(fleet.principalOf(owner.token)).rejects.toMatchObject({ code: 'unauthenticated' });
  await expect(signIn(fleet, owner.id, owner.key)).rejects.toMatchObject({ code: 'permission_denied' });
  await expect(fleet.principalOf(newToken)).resolves.toMatchObject({ keyId: owner.id });
});

test('D5 after several rotations within the overlap, all earlier secrets still work', async () => {
  const fleet = await openFleet();
  const owner = await fleet.keyWith(on.organization('owner'));
  const caller = await fleet.principalOf(owner.token);
  const keys = [owner.key];
  for (let turn = 0; turn < 3; turn++) {
    const { key = '' } = await ask(fleet.handlers.app.rotateKey, RotateKeyRequestSchema, { id: owner.id }, caller);
    keys.push(key);
  }
  for (const key of keys) await expect(signIn(fleet, owner.id, key)).resolves.toMatch(/^pt1\./);
  expect(new Set(await Promise.all(keys.map((key) => signIn(fleet, owner.id, key)))).size).toBe(4);
});

test('R16 the tokens of a deleted key stop at once, its secrets are gone, and the audit trail still records it', async () => {
  const fleet = await openFleet();
  const owner = await fleet.keyWith(on.organization('owner'));
  const other = await fleet.keyWith(on.location('operator', 'plant'));
  await fleet.principalOf(other.token);
  const caller = await fleet.principalOf(owner.token);
  await ask(fleet.handlers.app.rotateKey, RotateKeyRequestSchema, { id: other.id }, caller);
  await ask(fleet.handlers.app.deleteKey, DeleteKeyRequestSchema, { id: other.id }, caller);
  await expect(fleet.principalOf(other.token)).rejects.toMatchObject({ code: 'unauthenticated' });
  await expect(signIn(fleet, other.id, other.key)).rejects.toMatchObject({ code: 'permission_denied' });
  expect(await fleet.db.selectFrom('former_key_secrets').selectAll().execute()).toEqual([]);
  expect(await fleet.db.selectFrom('grants').selectAll().where('identity_id', '=', other.id).execute()).toEqual([]);
  const entry = await fleet.db
    .selectFrom('audit_entries')
    .selectAll()
    .where('action', '=', 'AppService.DeleteKey')
    .executeTakeFirstOrThrow();
  expect(entry).toMatchObject({
    actor_id: owner.id,
    actor_name: 'test key',
    target_id: other.id,
    organization_id: 'acme',
  });
  expect(JSON.parse(entry.detail)).toMatchObject({ was: 'test key', roles: ['location_operator on plant'] });
});

test('a key with an expiry works until then and not after, and its expiry can be changed', async () => {
  const fleet = await openFleet();
  const owner = await fleet.principalOf((await fleet.keyWith(on.organization('owner'))).token);
  const expiresAt = timestampFromMs(fleet.clock.now() + hourMs);
  const { id = '', key = '' } = await ask(
    fleet.handlers.fleet.createExpiringKey,
    CreateExpiringKeyRequestSchema,
    { name: 'for a day', authorizations: [ownerOf('location', 'plant')], expiresAt },
    owner,
  );
  const token = await signIn(fleet, id, key);
  await fleet.clock.advance(hourMs + 3_000);
  await expect(fleet.principalOf(token)).rejects.toMatchObject({ code: 'unauthenticated' });
  await expect(signIn(fleet, id, key)).rejects.toMatchObject({ code: 'permission_denied' });

  await ask(fleet.handlers.fleet.setKeyExpiry, SetKeyExpiryRequestSchema, { id }, owner);
  await expect(fleet.principalOf(token)).resolves.toMatchObject({ keyId: id });
  await expect(
    ask(fleet.handlers.fleet.setKeyExpiry, SetKeyExpiryRequestSchema, { id, expiresAt }, owner),
  ).rejects.toThrow(/expected a time in the future/);
});

test('R7 the last owner of an organization cannot be deleted or given an expiry until there is another owner', async () => {
  const fleet = await openFleet();
  const owner = await fleet.keyWith(on.organization('owner'));
  const caller = await fleet.principalOf(owner.token);
  const { app, fleet: ours } = fleet.handlers;
  const expiresAt = timestampFromMs(fleet.clock.now() + hourMs);
  await expect(ask(app.deleteKey, DeleteKeyRequestSchema, { id: owner.id }, caller)).rejects.toMatchObject({
    code: 'failed_precondition',
  });
  await expect(
    ask(ours.setKeyExpiry, SetKeyExpiryRequestSchema, { id: owner.id, expiresAt }, caller),
  ).rejects.toMatchObject({ code: 'failed_precondition' });
  await expect(fleet.principalOf(owner.token)).resolves.toMatchObject({ keyId: owner.id });
  await fleet.personWith(on.organization('owner'));
  await ask(app.deleteKey, DeleteKeyRequestSchema, { id: owner.id }, caller);
  await expect(fleet.principalOf(owner.token)).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('D6 R5 keys are listed with their secrets to callers who own everything the keys open, and not at all to others', async () => {
  const fleet = await openFleet();
  const wide = await fleet.keyWith(on.location('owner', 'plant'), on.machine('operator', 'mill'));
  const narrow = await fleet.keyWith(on.machine('operator', 'press'));
  await fleet.keyWith(on.organization('owner', 'umbrella'));
  const plantOwner = await fleet.keyWith(on.location('owner', 'plant'));
  const listed = async (...grants: Grant[]) => {
    const caller = await fleet.principalOf((await fleet.keyWith(...grants)).token);
    const { apiKeys = [] } = await ask(fleet.handlers.app.listKeys, ListKeysRequestSchema, { orgId: 'acme' }, caller);
    return apiKeys.map((entry) => entry.apiKey?.key);
  };
  const byPlant = await listed(on.location('owner', 'plant'));
  expect(byPlant).toEqual(expect.arrayContaining([narrow.key, plantOwner.key]));
  expect(byPlant).not.toContain(wide.key);
  expect(await listed(on.organization('owner'))).toEqual(
    expect.arrayContaining([wide.key, narrow.key, plantOwner.key]),
  );
  expect(await listed(on.location('owner', 'office'))).toHaveLength(1);

  const pressOwner = await fleet.principalOf((await fleet.keyWith(on.location('owner', 'hall'))).token);
  const ofMachine = await ask(
    fleet.handlers.app.getRobotAPIKeys,
    GetRobotAPIKeysRequestSchema,
    { robotId: 'press' },
    pressOwner,
  );
  expect(ofMachine.apiKeys).toMatchObject([{ apiKey: { id: narrow.id, key: narrow.key } }]);
});

test('the keys of a machine begin with those of owners: the public command line takes the first to restart a module', async () => {
  const fleet = await openFleet();
  const operator = await fleet.keyWith(on.machine('operator', 'press'));
  const owner = await fleet.keyWith(on.machine('owner', 'press'));
  const caller = await fleet.principalOf((await fleet.keyWith(on.organization('owner'))).token);
  const asked = { robotId: 'press' };
  const { apiKeys = [] } = await ask(fleet.handlers.app.getRobotAPIKeys, GetRobotAPIKeysRequestSchema, asked, caller);
  expect(apiKeys.map(({ apiKey }) => apiKey?.id)).toEqual([owner.id, operator.id]);
});

test('R2 R5 an operator may not list keys, and callers learn nothing about foreign organizations and keys', async () => {
  const fleet = await openFleet();
  const foreign = await fleet.keyWith(on.organization('owner', 'umbrella'));
  const operator = await fleet.principalOf((await fleet.keyWith(on.organization('operator'))).token);
  const owner = await fleet.principalOf((await fleet.keyWith(on.organization('owner'))).token);
  const { app } = fleet.handlers;
  await expect(ask(app.listKeys, ListKeysRequestSchema, { orgId: 'acme' }, operator)).rejects.toMatchObject({
    code: 'permission_denied',
  });
  const texts = [];
  for (const id of [foreign.id, '00000000-0000-4000-8000-000000000000']) {
    const copy = CreateKeyFromExistingKeyAuthorizationsRequestSchema;
    for (const attempt of [
      () => ask(app.deleteKey, DeleteKeyRequestSchema, { id }, owner),
      () => ask(app.rotateKey, RotateKeyRequestSchema, { id }, owner),
      () => ask(app.createKeyFromExistingKeyAuthorizations, copy, { id }, owner),
    ]) {
      const refused: unknown = await attempt().catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: 'not_found' });
      texts.push(refused instanceof Error ? refused.message.replace(id, 'ID') : '');
    }
  }
  expect(new Set(texts).size).toBe(1);
  await expect(ask(app.listKeys, ListKeysRequestSchema, { orgId: 'umbrella' }, owner)).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('R7 a caller who owns only some of what a key opens may see it, but not rotate, rename, copy or delete it', async () => {
  const fleet = await openFleet();
  const wide = await fleet.keyWith(on.location('owner', 'plant'), on.location('owner', 'office'));
  const caller = await fleet.principalOf((await fleet.keyWith(on.location('owner', 'plant'))).token);
  const { app } = fleet.handlers;
  const denied = { code: 'permission_denied' };
  await expect(ask(app.rotateKey, RotateKeyRequestSchema, { id: wide.id }, caller)).rejects.toMatchObject(denied);
  await expect(ask(app.renameKey, RenameKeyRequestSchema, { id: wide.id, name: '' }, caller)).rejects.toMatchObject(
    denied,
  );
  await expect(ask(app.deleteKey, DeleteKeyRequestSchema, { id: wide.id }, caller)).rejects.toMatchObject(denied);
  await expect(
    ask(
      app.createKeyFromExistingKeyAuthorizations,
      CreateKeyFromExistingKeyAuthorizationsRequestSchema,
      { id: wide.id },
      caller,
    ),
  ).rejects.toMatchObject(denied);
  await expect(fleet.principalOf(wide.token)).resolves.toMatchObject({ keyId: wide.id });
});

test('R7 a key can be created only with roles on resources that the caller owns', async () => {
  const fleet = await openFleet();
  const caller = await fleet.principalOf((await fleet.keyWith(on.location('owner', 'plant'))).token);
  const make = (...authorizations: ReturnType<typeof ownerOf>[]) =>
    ask(fleet.handlers.app.createKey, CreateKeyRequestSchema, { name: '  robot arm ', authorizations }, caller);
  const { id = '', key = '' } = await make(ownerOf('location', 'hall'), ownerOf('robot', 'press'));
  const made = await fleet.principalOf(await signIn(fleet, id, key));
  expect(made).toMatchObject({
    keyName: 'robot arm',
    grants: [on.location('owner', 'hall'), on.machine('owner', 'press')],
  });
  await expect(make(ownerOf('organization', 'acme'))).rejects.toMatchObject({ code: 'permission_denied' });
  await expect(make(ownerOf('location', 'office'))).rejects.toMatchObject({ code: 'not_found' });
  await expect(make(ownerOf('robot', 'probe'))).rejects.toMatchObject({ code: 'not_found' });
  await expect(make(ownerOf('location', 'hall'), ownerOf('location', 'lab'))).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(make()).rejects.toMatchObject({ code: 'invalid_argument' });
  expect(await fleet.db.selectFrom('api_keys').selectAll().where('name', '=', 'robot arm').execute()).toHaveLength(1);
});

test('a copied key has the roles and expiry of the original, and its own secret', async () => {
  const fleet = await openFleet();
  const owner = await fleet.principalOf((await fleet.keyWith(on.organization('owner'))).token);
  const { app, fleet: ours } = fleet.handlers;
  const expiresAt = timestampFromMs(fleet.clock.now() + hourMs);
  const first = await ask(
    ours.createExpiringKey,
    CreateExpiringKeyRequestSchema,
    { name: 'first', authorizations: [ownerOf('robot', 'mill')], expiresAt },
    owner,
  );
  const copy = await ask(
    app.createKeyFromExistingKeyAuthorizations,
    CreateKeyFromExistingKeyAuthorizationsRequestSchema,
    { id: first.id ?? '' },
    owner,
  );
  expect(copy.key).not.toBe(first.key);
  const { keys = [] } = await ask(ours.listKeyDetails, ListKeyDetailsRequestSchema, { organizationId: 'acme' }, owner);
  const shown = keys.find((key) => key.id === copy.id);
  expect(shown).toMatchObject({ name: 'first (copy)', expiresAt, authorizations: [{ resourceId: 'mill' }] });
  expect(JSON.stringify(keys, (_name, value) => (typeof value === 'bigint' ? String(value) : value))).not.toContain(
    copy.key,
  );
});

test('the last use of a key is reported to the minute, before and after it is stored', async () => {
  const fleet = await openFleet();
  const owner = await fleet.keyWith(on.organization('owner'));
  const caller = await fleet.principalOf(owner.token);
  const lastUse = async (): Promise<number | undefined> => {
    const { keys = [] } = await ask(
      fleet.handlers.fleet.listKeyDetails,
      ListKeyDetailsRequestSchema,
      { organizationId: 'acme' },
      caller,
    );
    const at = keys.find((key) => key.id === owner.id)?.lastUsedAt;
    return at === undefined
      ? undefined
      : timestampMs({ $typeName: 'google.protobuf.Timestamp', seconds: 0n, nanos: 0, ...at });
  };
  const first = fleet.clock.now();
  expect(await lastUse()).toBe(first);
  await fleet.keyUse.write();
  expect(await lastUse()).toBe(first);
  await fleet.clock.advance(90_000);
  await fleet.principalOf(owner.token);
  expect(await lastUse()).toBe(first + 60_000);
  await fleet.keyUse.write();
  const row = await fleet.db
    .selectFrom('api_keys')
    .select('last_used_ms')
    .where('id', '=', owner.id)
    .executeTakeFirstOrThrow();
  expect(row.last_used_ms).toBe(first + 60_000);
});

test("R14 a part's credentials cannot list, create or change keys", async () => {
  const fleet = await openFleet();
  const owner = await fleet.keyWith(on.organization('owner'));
  const part = { kind: 'part', partId: 'press-main' } as const;
  const { app } = fleet.handlers;
  const refused = { code: 'not_found' };
  await expect(ask(app.listKeys, ListKeysRequestSchema, { orgId: 'acme' }, part)).rejects.toMatchObject(refused);
  await expect(ask(app.deleteKey, DeleteKeyRequestSchema, { id: owner.id }, part)).rejects.toMatchObject(refused);
  await expect(
    ask(app.createKey, CreateKeyRequestSchema, { name: 'x', authorizations: [ownerOf('robot', 'press')] }, part),
  ).rejects.toMatchObject(refused);
});
