import { expect, test } from 'vitest';
import { openAccounts } from '../testing/open-accounts.ts';

test('a person, or a key that owns an organization, creates another and owns it from the next call on', async () => {
  const { ask, owner, person, key, part } = await openAccounts();
  for (const caller of [owner, await person()]) {
    const { organization } = await ask(caller, 'createOrganization', { name: ' Quarry ' });
    expect(organization).toMatchObject({ name: 'Quarry' });
    const id = organization?.id ?? '';
    await ask(caller, 'updateOrganization', { organizationId: id, name: 'Pit' });
    const { organizations } = await ask(caller, 'listOrganizations', {});
    expect(organizations.map((one) => one.name)).toContain('Pit');
  }
  for (const caller of [await key('operator'), part])
    await expect(ask(caller, 'createOrganization', { name: 'x' })).rejects.toMatchObject({
      code: 'permission_denied',
    });
});

test('every caller with a role in an organization finds it listed; settings need a role on all of it', async () => {
  const { ask, owner, key, part, organizationId, locationId } = await openAccounts();
  await ask(owner, 'updateOrganization', { organizationId, cid: 'C-1', region: 'eu', publicNamespace: 'quarry' });
  const below = await key('owner', { locationId });
  const [seen] = (await ask(below, 'listOrganizations', {})).organizations;
  expect(seen).toMatchObject({ id: organizationId, name: 'My organization', publicNamespace: '', defaultRegion: '' });
  expect(seen?.cid).toBeUndefined();
  const operator = await key('operator');
  const { organization } = await ask(operator, 'getOrganization', { organizationId });
  expect(organization).toMatchObject({ cid: 'C-1', defaultRegion: 'eu', publicNamespace: 'quarry' });
  expect((await ask(await key(), 'listOrganizations', {})).organizations).toEqual([]);
  await expect(ask(part, 'listOrganizations', {})).rejects.toMatchObject({ code: 'permission_denied' });
});

test('an update applies either all given fields or none, and an operator may not update', async () => {
  const { ask, owner, key, organizationId } = await openAccounts();
  const change = { organizationId, name: 'New', region: 'a\u0000b' };
  await expect(ask(owner, 'updateOrganization', change)).rejects.toThrow(/region: expected at most 64 characters/);
  expect((await ask(owner, 'getOrganization', { organizationId })).organization?.name).toBe('My organization');
  await expect(ask(await key('operator'), 'updateOrganization', { organizationId, name: 'x' })).rejects.toMatchObject({
    code: 'permission_denied',
  });
  const fragments = [{ fragmentId: 'f1', version: '3' }];
  const updated = await ask(owner, 'updateOrganization', {
    organizationId,
    defaultFragments: { fragments },
    allowedLoginMethods: { methods: [1, 2] },
  });
  expect(updated.organization?.defaultFragments?.fragments).toMatchObject(fragments);
  expect(updated.organization?.allowedLoginMethods?.methods).toEqual([1, 2]);
  const emptied = await ask(owner, 'updateOrganization', { organizationId, defaultFragments: {}, cid: '' });
  expect(emptied.organization?.defaultFragments).toBeUndefined();
});

test('a default fragment that the caller may not see is refused like a nonexistent one', async () => {
  const { ask, owner, organizationId } = await openAccounts({ seesFragment: (_caller, id) => id === 'mine' });
  const update = (fragmentId: string) =>
    ask(owner, 'updateOrganization', { organizationId, defaultFragments: { fragments: [{ fragmentId }] } });
  await update('mine');
  await expect(update('theirs')).rejects.toMatchObject({
    code: 'not_found',
    message: 'fragment: expected the id of one that you may see, found "theirs"',
  });
});

test('a namespace belongs to one organization, is set once, and changes only by an explicit rename', async () => {
  const { ask, owner, person, part, organizationId } = await openAccounts();
  const available = async (publicNamespace: string, id = ''): Promise<boolean> =>
    (await ask(owner, 'getOrganizationNamespaceAvailability', { publicNamespace, organizationId: id })).available;
  expect(await available('quarry')).toBe(true);
  await ask(owner, 'updateOrganization', { organizationId, publicNamespace: 'quarry' });
  expect([await available('quarry'), await available('quarry', organizationId)]).toEqual([false, true]);
  await expect(ask(owner, 'updateOrganization', { organizationId, publicNamespace: 'pit' })).rejects.toMatchObject({
    code: 'failed_precondition',
  });
  const other = await person();
  const { organization } = await ask(other, 'createOrganization', { name: 'Other' });
  const take = { organizationId: organization?.id ?? '', newPublicNamespace: 'quarry' };
  await expect(ask(other, 'updateOrganizationNamespace', take)).rejects.toMatchObject({ code: 'already_exists' });
  await ask(owner, 'updateOrganizationNamespace', { organizationId, newPublicNamespace: 'pit' });
  const taken = await ask(other, 'updateOrganizationNamespace', take);
  expect(taken.organization?.publicNamespace).toBe('quarry');
  for (const bad of ['', 'Quarry', '-a', 'a b', 'viam', 'core', 'x'.repeat(64), '<b>'])
    await expect(available(bad)).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(ask(part, 'getOrganizationNamespaceAvailability', { publicNamespace: 'free' })).rejects.toMatchObject({
    code: 'permission_denied',
  });
});

test('a search finds organizations that the caller sees, by the fields that it may read', async () => {
  const { ask, owner, key, person, organizationId, locationId } = await openAccounts();
  await ask(owner, 'updateOrganization', { organizationId, cid: 'C-1' });
  await ask(await person(), 'createOrganization', { name: 'My secret quarry' });
  const found = async (by: typeof owner, search: object): Promise<string[]> =>
    (await ask(by, 'searchOrganizations', search)).organizations.map((one) => one.orgId);
  expect(await found(owner, { orgName: 'my ORG' })).toEqual([organizationId]);
  expect(await found(owner, { orgName: 'secret' })).toEqual([]);
  expect(await found(owner, { cid: 'C-1' })).toEqual([organizationId]);
  expect(await found(owner, { cid: 'C-2', orgId: organizationId })).toEqual([]);
  const below = await key('owner', { locationId });
  expect(await found(below, { orgId: organizationId })).toEqual([organizationId]);
  expect(await found(below, { cid: 'C-1' })).toEqual([]);
});

test('deleting an organization with locations is refused with their names; an empty one is deleted with its keys, roles and settings', async () => {
  const { ask, owner, key, db, tree, organizationId, locationId } = await openAccounts();
  await expect(ask(owner, 'deleteOrganization', { organizationId })).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringContaining(`found 1 location (${JSON.stringify(tree.location(locationId)?.name)})`),
  });
  const { organization } = await ask(owner, 'createOrganization', { name: 'Short' });
  const id = organization?.id ?? '';
  const member = await key('operator', { organizationId: id });
  await ask(owner, 'updateOrganizationMetadata', { organizationId: id, data: { a: 1 } });
  await ask(owner, 'organizationSetSupportEmail', { orgId: id, email: 'help@example.com' });
  await ask(owner, 'deleteOrganization', { organizationId: id });
  await expect(member.principal()).rejects.toMatchObject({ code: 'unauthenticated' });
  await expect(ask(owner, 'getOrganization', { organizationId: id })).rejects.toMatchObject({ code: 'not_found' });
  expect(await db.selectFrom('grants').selectAll().where('organization_id', '=', id).execute()).toEqual([]);
  expect((await ask(owner, 'listOrganizations', {})).organizations.map((one) => one.id)).toEqual([organizationId]);
  const entries = await db.selectFrom('audit_entries').select('action').where('organization_id', '=', id).execute();
  expect(entries.map((entry) => entry.action)).toContain('AppService.DeleteOrganization');
});

test("another feature's data can prevent the deletion of an organization, and then nothing is deleted", async () => {
  const { ask, owner, tree } = await openAccounts({
    organizationDeleting: [
      async (trx, organizationId) => {
        await trx.deleteFrom('grants').where('organization_id', '=', organizationId).execute();
        throw new Error('in use');
      },
    ],
  });
  const { organization } = await ask(owner, 'createOrganization', { name: 'Used' });
  const organizationId = organization?.id ?? '';
  await expect(ask(owner, 'deleteOrganization', { organizationId })).rejects.toThrow('in use');
  expect(tree.organization(organizationId)?.name).toBe('Used');
  await ask(owner, 'updateOrganization', { organizationId, name: 'Still mine' });
});
