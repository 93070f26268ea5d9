import { expect, test } from 'vitest';
import { type Caller, openAccounts, type TestAccounts } from './testing/open-accounts.ts';

/** Operations that name an organization or location, with the other fields that each needs. */
const onOrganization = (id: string) =>
  [
    ['getOrganization', { organizationId: id }],
    ['updateOrganization', { organizationId: id, name: 'x' }],
    ['updateOrganizationNamespace', { organizationId: id, newPublicNamespace: 'ns' }],
    ['getOrganizationNamespaceAvailability', { organizationId: id, publicNamespace: 'ns' }],
    ['deleteOrganization', { organizationId: id }],
    ['getOrganizationMetadata', { organizationId: id }],
    ['updateOrganizationMetadata', { organizationId: id, data: {} }],
    ['organizationSetLogo', { orgId: id }],
    ['organizationGetLogo', { orgId: id }],
    ['organizationSetSupportEmail', { orgId: id, email: 'a@b' }],
    ['organizationGetSupportEmail', { orgId: id }],
    ['enableBillingService', { orgId: id }],
    ['disableBillingService', { orgId: id }],
    ['updateBillingService', { orgId: id }],
    ['getBillingServiceConfig', { orgId: id }],
    ['setFirebaseConfig', { orgId: id, appId: 'a', configJson: '{}' }],
    ['getFirebaseConfig', { orgId: id }],
    ['deleteFirebaseConfig', { orgId: id, appId: 'a' }],
    ['createLocation', { organizationId: id, name: 'x' }],
    ['listLocations', { organizationId: id }],
  ] as const;
const onLocation = (id: string, organizationId: string) =>
  [
    ['getLocation', { locationId: id }],
    ['updateLocation', { locationId: id, name: 'x' }],
    ['deleteLocation', { locationId: id }],
    ['getLocationMetadata', { locationId: id }],
    ['updateLocationMetadata', { locationId: id, data: {} }],
    ['shareLocation', { locationId: id, organizationId }],
    ['unshareLocation', { locationId: id, organizationId }],
    ['locationAuth', { locationId: id }],
    ['createLocationSecret', { locationId: id }],
    ['deleteLocationSecret', { locationId: id, secretId: 'x' }],
    ['getOrganizationsWithAccessToLocation', { locationId: id }],
    ['createLocation', { organizationId, name: 'x', parentLocationId: id }],
    ['updateLocation', { locationId: id, parentLocationId: '' }],
  ] as const;

async function answer(asked: Promise<unknown>): Promise<string> {
  return asked.then(
    (value) => `answered ${JSON.stringify(value)}`,
    (error: { code?: string; message?: string }) => `${error.code}: ${error.message}`,
  );
}

test('every operation treats a foreign id exactly like a nonexistent one, for every caller', async () => {
  const accounts: TestAccounts = await openAccounts();
  const { ask, organizationId, locationId, person, part, key } = accounts;
  const stranger = await person();
  const own = (await ask(stranger, 'createOrganization', { name: 'Own' })).organization?.id ?? '';
  const callers: readonly Caller[] = [stranger, await key(), part];
  const unknown = { organization: '00000000-0000-4000-8000-000000000000', location: 'zzzzzzzzzz' };
  for (const caller of callers) {
    for (const [index, [name, request]] of onOrganization(organizationId).entries()) {
      const other = onOrganization(unknown.organization)[index];
      const [foreign, missing] = [
        await answer(ask(caller, name, request)),
        await answer(ask(caller, name, other?.[1] ?? {})),
      ];
      expect(foreign.replaceAll(organizationId, unknown.organization)).toBe(missing);
      expect(missing).toMatch(/^not_found: /);
    }
    for (const [index, [name, request]] of onLocation(locationId, own).entries()) {
      const other = onLocation(unknown.location, own)[index];
      const [foreign, missing] = [
        await answer(ask(caller, name, request)),
        await answer(ask(caller, name, other?.[1] ?? {})),
      ];
      expect(foreign.replaceAll(locationId, unknown.location)).toBe(missing);
      expect(missing).toMatch(/^not_found: /);
    }
  }
});

test('a foreign location as the new parent is treated like a nonexistent one', async () => {
  const { ask, locationId: foreign, person } = await openAccounts();
  const caller = await person();
  const organizationId = (await ask(caller, 'createOrganization', { name: 'Own' })).organization?.id ?? '';
  const locationId = (await ask(caller, 'createLocation', { organizationId, name: 'x' })).location?.id ?? '';
  for (const parentLocationId of [foreign, 'zzzzzzzzzz'])
    expect(await answer(ask(caller, 'updateLocation', { locationId, parentLocationId }))).toBe(
      `not_found: location: expected the id of one that you may see, found "${parentLocationId}"`,
    );
});

const stored = [
  '<script>alert(1)</script>',
  '"; drop table locations; --',
  '#{1+1} {{7*7}} %s %00',
  "O'Brien & Söhne — 工場 🏭",
  '../../etc/passwd',
];
const refused = ['', '   ', 'a\u0000b', 'a\nb', 'a\u001bb', 'a\u2028b', '\u0085', 'x'.repeat(201), 'x'.repeat(10_000)];

test('names are trimmed, markup is stored unchanged, and control characters, empty names and 10 kB are refused', async () => {
  const { ask, owner, organizationId, locationId } = await openAccounts();
  const writers = [
    async (name: string) => (await ask(owner, 'createOrganization', { name })).organization?.name,
    async (name: string) => (await ask(owner, 'updateOrganization', { organizationId, name })).organization?.name,
    async (name: string) => (await ask(owner, 'createLocation', { organizationId, name })).location?.name,
    async (name: string) => (await ask(owner, 'updateLocation', { locationId, name })).location?.name,
  ];
  const { location: second } = await ask(owner, 'createLocation', { organizationId, name: 'second' });
  // Moved elsewhere, so that it may take the names of the new ones.
  await ask(owner, 'updateLocation', { locationId, parentLocationId: second?.id ?? '' });
  for (const write of writers) {
    for (const name of stored) expect(await write(`  ${name}\t`)).toBe(name);
    for (const name of refused) {
      const said = await answer(write(name));
      expect(said).toMatch(/^invalid_argument: name: expected 1 to 200 characters without control characters/);
      expect(said.length).toBeLessThan(600);
    }
  }
  const regions = await answer(ask(owner, 'updateLocation', { locationId, region: 'x'.repeat(10_000) }));
  expect(regions).toMatch(/^invalid_argument: region: /);
});

test('every operation that changes something records who did it, and to what', async () => {
  const { ask, owner, organizationId, locationId, db } = await openAccounts();
  await ask(owner, 'createLocation', { organizationId, name: 'hall', parentLocationId: locationId });
  await ask(owner, 'shareLocation', { locationId, organizationId: 'guest' });
  await ask(owner, 'unshareLocation', { locationId, organizationId: 'guest' });
  await ask(owner, 'updateLocation', { locationId, name: 'new' });
  await ask(owner, 'createLocationSecret', { locationId });
  await ask(owner, 'updateLocationMetadata', { locationId, data: { k: 'v' } });
  const entries = await db.selectFrom('audit_entries').selectAll().orderBy('id').execute();
  expect(entries.map(({ action }) => action.replace('AppService.', ''))).toEqual([
    'CreateLocation',
    'ShareLocation',
    'UnshareLocation',
    'UpdateLocation',
    'CreateLocationSecret',
    'UpdateLocationMetadata',
  ]);
  expect(entries.every((entry) => entry.actor_kind === 'api-key' && entry.organization_id === organizationId)).toBe(
    true,
  );
});
