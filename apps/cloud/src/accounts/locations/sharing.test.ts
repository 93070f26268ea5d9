import { newId } from '@platform/base';
import { expect, test } from 'vitest';
import { openAccounts, type TestAccounts } from '../testing/open-accounts.ts';

interface Given extends TestAccounts {
  /** The shared location, and the one beneath it. */
  readonly shared: string;
  readonly nested: string;
  /** The other organization and its owner. */
  readonly guest: string;
  readonly guestOwner: Awaited<ReturnType<TestAccounts['person']>>;
}

/** `shared` is in the first location; the guest organization exists, and nothing is shared yet. */
async function given(): Promise<Given> {
  const accounts = await openAccounts();
  const { ask, owner, person, organizationId, locationId } = accounts;
  const make = async (name: string, parentLocationId: string): Promise<string> =>
    (await ask(owner, 'createLocation', { organizationId, name, parentLocationId })).location?.id ?? '';
  const shared = await make('shared', locationId);
  const nested = await make('nested', shared);
  const guestOwner = await person();
  const { organization } = await ask(guestOwner, 'createOrganization', { name: 'Guest' });
  return { ...accounts, shared, nested, guest: organization?.id ?? '', guestOwner };
}

test('a shared location and its contents are open to operators of the other organization until it is unshared', async () => {
  const { ask, owner, guestOwner, key, registry, organizationId, shared, nested, guest } = await given();
  await registry.register(nested, 'press', 1);
  await expect(ask(guestOwner, 'getLocation', { locationId: nested })).rejects.toMatchObject({ code: 'not_found' });
  await ask(owner, 'shareLocation', { locationId: shared, organizationId: guest });
  await ask(owner, 'shareLocation', { locationId: shared, organizationId: guest });
  for (const caller of [guestOwner, await key('operator', { organizationId: guest })]) {
    const { location } = await ask(caller, 'getLocation', { locationId: nested });
    expect(location).toMatchObject({ name: 'nested', robotCount: 1, parentLocationId: shared });
    expect(location?.auth).toBeUndefined();
    expect(location?.organizations.map((one) => [one.organizationId, one.primary])).toEqual([
      [organizationId, true],
      [guest, false],
    ]);
    const listed = (await ask(caller, 'listLocations', { organizationId: guest })).locations;
    expect(listed.map(({ id }) => id).toSorted()).toEqual([shared, nested].toSorted());
    await expect(ask(caller, 'updateLocation', { locationId: shared, name: 'x' })).rejects.toMatchObject({
      code: 'permission_denied',
    });
    await expect(ask(caller, 'locationAuth', { locationId: shared })).rejects.toMatchObject({
      code: 'permission_denied',
    });
  }
  expect((await ask(guestOwner, 'listOrganizations', {})).organizations.map(({ id }) => id)).toEqual([guest]);
  await ask(owner, 'unshareLocation', { locationId: shared, organizationId: guest });
  await expect(ask(guestOwner, 'getLocation', { locationId: shared })).rejects.toMatchObject({ code: 'not_found' });
});

test('a role on a location of the other organization gives no access to what is shared with it', async () => {
  const { ask, owner, guestOwner, key, shared, guest } = await given();
  const { location } = await ask(guestOwner, 'createLocation', { organizationId: guest, name: 'own' });
  await ask(owner, 'shareLocation', { locationId: shared, organizationId: guest });
  const below = await key('owner', { organizationId: guest, locationId: location?.id ?? '' });
  await expect(ask(below, 'getLocation', { locationId: shared })).rejects.toMatchObject({ code: 'not_found' });
  const listed = (await ask(below, 'listLocations', { organizationId: guest })).locations;
  expect(listed.map(({ name }) => name)).toEqual(['own']);
});

test('a shared location that moves stays shared; one that moves out of a shared location no longer is', async () => {
  const { ask, owner, guestOwner, shared, nested, guest } = await given();
  await ask(owner, 'shareLocation', { locationId: shared, organizationId: guest });
  await ask(owner, 'updateLocation', { locationId: shared, parentLocationId: '' });
  await ask(guestOwner, 'getLocation', { locationId: nested });
  await ask(owner, 'updateLocation', { locationId: nested, parentLocationId: '' });
  await expect(ask(guestOwner, 'getLocation', { locationId: nested })).rejects.toMatchObject({ code: 'not_found' });
});

test('sharing with an existing organization is answered exactly like sharing with a nonexistent one', async () => {
  const { ask, owner, shared, guest } = await given();
  const unknown = '00000000-0000-4000-8000-000000000000';
  for (const organizationId of [guest, unknown])
    await ask(owner, 'shareLocation', { locationId: shared, organizationId });
  const { organizationIdentities } = await ask(owner, 'getOrganizationsWithAccessToLocation', { locationId: shared });
  expect(organizationIdentities.map(({ name }) => name)).toEqual(['My organization', '', '']);
  expect((await ask(owner, 'getLocation', { locationId: shared })).location?.organizations).toHaveLength(3);
});

test('an organization shares at most 200 locations with one other; a third organization can still share with it', async () => {
  const { ask, owner, person, organizationId, shared, guest } = await given();
  const shareNew = async (by: typeof owner, from: string): Promise<string> => {
    const { location } = await ask(by, 'createLocation', { organizationId: from, name: newId() });
    await ask(by, 'shareLocation', { locationId: location?.id ?? '', organizationId: guest });
    return location?.id ?? '';
  };
  const first = await shareNew(owner, organizationId);
  for (let at = 1; at < 200; at++) await shareNew(owner, organizationId);
  await expect(shareNew(owner, organizationId)).rejects.toMatchObject({
    code: 'resource_exhausted',
    message: expect.stringContaining('at most 200 locations'),
  });
  // Sharing again succeeds and changes nothing.
  await ask(owner, 'shareLocation', { locationId: first, organizationId: guest });
  await ask(owner, 'unshareLocation', { locationId: first, organizationId: guest });
  await ask(owner, 'shareLocation', { locationId: shared, organizationId: guest });
  const third = await person();
  const { organization } = await ask(third, 'createOrganization', { name: 'Third' });
  await shareNew(third, organization?.id ?? '');
});

test('guests do not learn with whom else a location is shared', async () => {
  const { ask, owner, guestOwner, organizationId, shared, guest } = await given();
  await ask(owner, 'shareLocation', { locationId: shared, organizationId: guest });
  await ask(owner, 'shareLocation', { locationId: shared, organizationId: 'canary-organization' });
  const { organizationIdentities } = await ask(guestOwner, 'getOrganizationsWithAccessToLocation', {
    locationId: shared,
  });
  expect(organizationIdentities.map(({ id }) => id)).toEqual([organizationId, guest]);
  const { location } = await ask(guestOwner, 'getLocation', { locationId: shared });
  expect(JSON.stringify(location?.organizations)).not.toContain('canary');
});

test('only owners share a location, only with another organization, and only a shared one can be unshared', async () => {
  const { ask, owner, key, organizationId, shared, guest } = await given();
  for (const name of ['shareLocation', 'unshareLocation'] as const)
    await expect(ask(await key('operator'), name, { locationId: shared, organizationId: guest })).rejects.toMatchObject(
      { code: 'permission_denied' },
    );
  await expect(ask(owner, 'shareLocation', { locationId: shared, organizationId })).rejects.toMatchObject({
    code: 'invalid_argument',
  });
  for (const bad of ['', '<b>', 'x'.repeat(10_000)])
    await expect(ask(owner, 'shareLocation', { locationId: shared, organizationId: bad })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  await expect(ask(owner, 'unshareLocation', { locationId: shared, organizationId: guest })).rejects.toMatchObject({
    code: 'not_found',
  });
});
