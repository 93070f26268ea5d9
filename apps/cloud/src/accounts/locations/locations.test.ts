import { expect, test } from 'vitest';
import { openAccounts } from '../testing/open-accounts.ts';

test('an owner of a location creates locations beneath it; only owners of the organization create them at the top', async () => {
  const { ask, key, organizationId, locationId } = await openAccounts();
  const below = await key('owner', { locationId });
  const nested = { organizationId, name: ' Hall ', parentLocationId: locationId };
  const { location } = await ask(below, 'createLocation', nested);
  expect(location).toMatchObject({
    name: 'Hall',
    parentLocationId: locationId,
    primaryOrgIdentity: { id: organizationId, name: 'My organization' },
    organizations: [{ organizationId, primary: true }],
    robotCount: 0,
  });
  expect(location?.auth?.secrets).toHaveLength(1);
  await expect(ask(below, 'createLocation', { organizationId, name: 'x' })).rejects.toMatchObject({
    code: 'permission_denied',
  });
  await expect(ask(await key('operator', { locationId }), 'createLocation', nested)).rejects.toMatchObject({
    code: 'permission_denied',
  });
});

test('a location cannot be created in or moved to another organization, even by an owner of both', async () => {
  const { ask, owner, organizationId, locationId } = await openAccounts();
  const { organization } = await ask(owner, 'createOrganization', { name: 'Other' });
  const other = organization?.id ?? '';
  await expect(
    ask(owner, 'createLocation', { organizationId: other, name: 'x', parentLocationId: locationId }),
  ).rejects.toMatchObject({ code: 'invalid_argument' });
  const { location } = await ask(owner, 'createLocation', { organizationId: other, name: 'x' });
  await expect(
    ask(owner, 'updateLocation', { locationId, parentLocationId: location?.id ?? '' }),
  ).rejects.toMatchObject({ code: 'invalid_argument' });
  expect((await ask(owner, 'getLocation', { locationId })).location?.organizations[0]?.organizationId).toBe(
    organizationId,
  );
});

test('moving needs ownership of the location and of the new parent; renaming needs only the location', async () => {
  const { ask, owner, key, organizationId, locationId } = await openAccounts();
  const make = async (name: string): Promise<string> =>
    (await ask(owner, 'createLocation', { organizationId, name })).location?.id ?? '';
  const [mine, theirs] = [await make('mine'), await make('theirs')];
  const caller = await key('owner', { locationId: mine });
  await ask(caller, 'updateLocation', { locationId: mine, name: 'still mine', region: 'eu' });
  await expect(ask(caller, 'updateLocation', { locationId: mine, parentLocationId: theirs })).rejects.toMatchObject({
    code: 'not_found',
  });
  await ask(owner, 'updateLocation', { locationId: mine, parentLocationId: locationId });
  await expect(ask(caller, 'updateLocation', { locationId: mine, parentLocationId: '' })).rejects.toMatchObject({
    code: 'permission_denied',
  });
  // Naming the current parent is not a move.
  const { location } = await ask(caller, 'updateLocation', { locationId: mine, parentLocationId: locationId });
  expect(location).toMatchObject({ name: 'still mine', config: { region: 'eu' } });
});

test('deleting a location with machines or locations is refused with their names; an empty one is deleted with its roles', async () => {
  const { ask, owner, key, registry, db, organizationId, locationId } = await openAccounts();
  await registry.register(locationId, 'press <1>', 1);
  await ask(owner, 'createLocation', { organizationId, name: 'hall', parentLocationId: locationId });
  await expect(ask(owner, 'deleteLocation', { locationId })).rejects.toThrow(
    'found 1 machine ("press <1>") and 1 location ("hall"); delete or move them first',
  );
  const { location } = await ask(owner, 'createLocation', { organizationId, name: 'empty' });
  const id = location?.id ?? '';
  const member = await key('owner', { locationId: id });
  await ask(member, 'shareLocation', { locationId: id, organizationId: 'some-organization' });
  await ask(member, 'updateLocationMetadata', { locationId: id, data: { a: 1 } });
  await ask(member, 'deleteLocation', { locationId: id });
  await expect(member.principal()).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(await db.selectFrom('location_secrets').selectAll().where('location_id', '=', id).execute()).toEqual([]);
});

test('a list shows only what the caller sees: the path to accessible locations, and counts of visible machines', async () => {
  const { ask, owner, key, registry, organizationId, locationId } = await openAccounts();
  const make = async (name: string, parentLocationId: string): Promise<string> =>
    (await ask(owner, 'createLocation', { organizationId, name, parentLocationId })).location?.id ?? '';
  const hall = await make('hall', locationId);
  await make('cellar', locationId);
  const { machineId } = await registry.register(hall, 'mine', 1);
  await registry.register(hall, 'not mine', 1);
  const caller = await key('operator', { robotId: machineId });
  const { locations } = await ask(caller, 'listLocations', { organizationId });
  expect(locations.map((one) => [one.id, one.robotCount, one.auth])).toEqual([
    [locationId, 0, undefined],
    [hall, 1, undefined],
  ]);
  const all = (await ask(owner, 'listLocations', { organizationId })).locations;
  expect(all.map((one) => [one.name, one.robotCount]).slice(1)).toEqual([
    ['hall', 2],
    ['cellar', 0],
  ]);
  expect(all.every((one) => one.auth?.secrets.length === 1)).toBe(true);
});

test('D6 location secrets are sealed in the store and given only to owners; there can be several, and at least one remains', async () => {
  const { ask, owner, key, db, locationId } = await openAccounts();
  const first = (await ask(owner, 'locationAuth', { locationId })).auth;
  expect(first).toMatchObject({ locationId, secret: first?.secrets[0]?.secret });
  const { auth } = await ask(owner, 'createLocationSecret', { locationId });
  expect(auth?.secrets.map(({ id }) => id)).toContain(first?.secrets[0]?.id);
  expect(new Set(auth?.secrets.map(({ secret }) => secret)).size).toBe(2);
  for (const row of await db.selectFrom('location_secrets').selectAll().execute())
    for (const { secret } of auth?.secrets ?? []) expect(Buffer.from(row.secret).includes(secret)).toBe(false);
  for (const name of ['locationAuth', 'createLocationSecret'] as const)
    await expect(ask(await key('operator', { locationId }), name, { locationId })).rejects.toMatchObject({
      code: 'permission_denied',
    });
  const [oldest, newest] = auth?.secrets ?? [];
  await ask(owner, 'deleteLocationSecret', { locationId, secretId: oldest?.id ?? '' });
  await expect(ask(owner, 'deleteLocationSecret', { locationId, secretId: newest?.id ?? '' })).rejects.toMatchObject({
    code: 'failed_precondition',
  });
  await expect(ask(owner, 'deleteLocationSecret', { locationId, secretId: 'nope' })).rejects.toMatchObject({
    code: 'not_found',
  });
  for (let count = 1; count < 10; count++) await ask(owner, 'createLocationSecret', { locationId });
  await expect(ask(owner, 'createLocationSecret', { locationId })).rejects.toMatchObject({
    code: 'resource_exhausted',
  });
  const trail = JSON.stringify(await db.selectFrom('audit_entries').selectAll().execute());
  for (const { secret } of auth?.secrets ?? []) expect(trail).not.toContain(secret);
});

test('D36 sibling locations have different names, whether created, renamed or moved; strangers to the other learn nothing', async () => {
  const { ask, owner, key, organizationId, locationId } = await openAccounts();
  const make = async (name: string, parentLocationId = ''): Promise<string> =>
    (await ask(owner, 'createLocation', { organizationId, name, parentLocationId })).location?.id ?? '';
  const hall = await make('hall');
  const below = await make('hall', locationId);
  const taken = { code: 'already_exists', message: expect.stringContaining(`the name of location ${hall}`) };
  await expect(make('hall')).rejects.toMatchObject(taken);
  await expect(ask(owner, 'updateLocation', { locationId, name: ' HALL ' })).rejects.toMatchObject(taken);
  await expect(ask(owner, 'updateLocation', { locationId: below, parentLocationId: '' })).rejects.toMatchObject(taken);
  await ask(owner, 'updateLocation', { locationId: hall, name: 'hall', region: 'eu' });
  const caller = await key('owner', { locationId });
  expect((await ask(caller, 'updateLocation', { locationId, name: 'hall' })).location?.name).toBe('hall');
});
