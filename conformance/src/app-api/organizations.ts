import { expect, test } from 'vitest';
import type { Listed } from './package-types.ts';
import { Code, expectRecent, expectRecentSeconds, expectRefused, unknownId, type World } from './world.ts';

/** The smallest possible PNG: one pixel. */
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A new organization of the first person, so that tests do not affect each other. */
async function newOrganization({ ada }: World, name: string): Promise<string> {
  return (await ada.app.createOrganization(name))?.id ?? '';
}

export function organizationTests(world: () => World): void {
  test('is created by a person, listed, read, changed and deleted', async () => {
    const { app } = world().ada;
    const created = await app.createOrganization('  Press shop ');
    expect(created).toMatchObject({ name: 'Press shop', id: expect.stringMatching(/^[\w-]{36}$/) });
    expectRecent(created?.createdOn);
    const id = created?.id ?? '';

    const changed = await app.updateOrganization(id, 'Press shop 2', 'press-shop', 'us-central', 'crm-7');
    const settings = {
      id,
      name: 'Press shop 2',
      publicNamespace: 'press-shop',
      defaultRegion: 'us-central',
      cid: 'crm-7',
    };
    expect(changed).toMatchObject(settings);
    const read = await app.getOrganization(id);
    expect(read).toMatchObject(settings);
    expect(read?.createdOn).toEqual(created?.createdOn);
    expect((await app.listOrganizations()).find((one: Listed) => one.id === id)).toMatchObject(settings);

    await app.deleteOrganization(id);
    await expectRefused(app.getOrganization(id), Code.notFound, /organization/);
    expect((await app.listOrganizations()).map((one: Listed) => one.id)).not.toContain(id);
  });

  test('fields omitted from a change stay; login methods and default fragments round-trip', async () => {
    const { ada } = world();
    const id = await newOrganization(world(), 'Stays');
    const fragment = await ada.ask('CreateFragment', { organization_id: id, name: 'default', config: { fields: {} } });
    const fragmentId = String(Reflect.get(Object(fragment['fragment']), 'id'));
    const fragments = [
      {
        fragment_id: fragmentId,
        version: '1',
        prefix: 'left',
        fragment_variables: { fields: { pin: { numberValue: 12 } } },
      },
    ];
    const { organization } = await ada.ask('UpdateOrganization', {
      organization_id: id,
      default_fragments: { fragments },
      allowed_login_methods: { methods: ['LOGIN_METHOD_PASSWORD', 'LOGIN_METHOD_GOOGLE'] },
    });
    const want = {
      name: 'Stays',
      allowed_login_methods: { methods: ['LOGIN_METHOD_PASSWORD', 'LOGIN_METHOD_GOOGLE'] },
      default_fragments: { fragments: [{ fragment_id: fragmentId, version: '1', prefix: 'left' }] },
    };
    expect(organization).toMatchObject(want);
    await ada.app.updateOrganization(id, undefined, undefined, 'eu');
    const read = await ada.ask('GetOrganization', { organization_id: id });
    expect(read['organization']).toMatchObject({ ...want, default_region: 'eu' });
    expectRecentSeconds(Reflect.get(Object(read['organization']), 'created_on'));
  });

  test('a namespace is free until it is taken, stays with its owner, and is renamed only explicitly', async () => {
    const { ada, owner } = world();
    const { app } = ada;
    const [one, two] = [await newOrganization(world(), 'One'), await newOrganization(world(), 'Two')];
    expect(await app.getOrganizationNamespaceAvailability('name-of-one')).toBe(true);
    await app.updateOrganization(one, undefined, 'name-of-one');
    expect(await app.getOrganizationNamespaceAvailability('name-of-one')).toBe(false);
    const own = { public_namespace: 'name-of-one', organization_id: one };
    expect(await ada.ask('GetOrganizationNamespaceAvailability', own)).toEqual({ available: true });
    await expectRefused(app.updateOrganization(two, undefined, 'name-of-one'), Code.alreadyExists, /name-of-one/);
    await expectRefused(
      app.updateOrganization(one, undefined, 'other'),
      Code.failedPrecondition,
      /UpdateOrganizationNamespace/,
    );
    await expectRefused(
      app.getOrganizationNamespaceAvailability('<b>'),
      Code.invalidArgument,
      /public_namespace|namespace/,
    );

    const renaming = { organization_id: one, new_public_namespace: 'renamed' };
    const { organization } = await ada.ask('UpdateOrganizationNamespace', renaming);
    expect(organization).toMatchObject({ id: one, name: 'One', public_namespace: 'renamed' });
    expect((await app.getOrganization(one))?.publicNamespace).toBe('renamed');
    expect(await app.getOrganizationNamespaceAvailability('name-of-one')).toBe(true);
    const foreign = owner.ask('UpdateOrganizationNamespace', renaming);
    await expectRefused(foreign, Code.notFound, /organization/);
  });

  test('is found by its id, a part of its name, its customer id and its namespace, by callers who see it', async () => {
    const { ada, owner, stranger } = world();
    const id = await newOrganization(world(), 'Needle in hay');
    await ada.app.updateOrganization(id, undefined, 'needle-works', undefined, 'crm-needle');
    const found = { org_id: id, org_name: 'Needle in hay', org_cid: 'crm-needle', public_namespace: 'needle-works' };
    for (const search of [
      { org_id: id },
      { org_name: 'NEEDLE IN' },
      { cid: 'crm-needle' },
      { public_namespace: 'needle-works' },
    ]) {
      const { organizations } = await ada.ask('SearchOrganizations', search);
      expect(organizations).toMatchObject([found]);
      expect(await owner.ask('SearchOrganizations', search)).toMatchObject({ organizations: [] });
    }
    await expectRefused(stranger.ask('SearchOrganizations'), Code.unauthenticated, /sign in|token|authorization/i);
    await expectRefused(stranger.ask('ListOrganizations'), Code.unauthenticated, /sign in|token|authorization/i);
    const details = (await ada.app.listOrganizationsByUser(ada.id)).find((one: Listed) => one.orgId === id);
    expect(details).toMatchObject({
      orgId: id,
      orgName: 'Needle in hay',
      orgCid: 'crm-needle',
      publicNamespace: 'needle-works',
    });
  });

  test('an organization with locations is not deleted, and the refusal names them', async () => {
    const { app } = world().ada;
    const id = await newOrganization(world(), 'Full');
    await app.createLocation(id, 'the north hall');
    await expectRefused(app.deleteOrganization(id), Code.failedPrecondition, /the north hall/);
    expect((await app.getOrganization(id))?.name).toBe('Full');
  });

  test('unknown and foreign organizations are NOT_FOUND in every operation', async () => {
    const { owner } = world();
    const foreign = await newOrganization(world(), 'Foreign');
    for (const id of [unknownId, foreign, '']) {
      await expectRefused(owner.app.getOrganization(id), Code.notFound, /organization/);
      await expectRefused(owner.app.updateOrganization(id, 'x'), Code.notFound, /organization/);
      await expectRefused(owner.app.deleteOrganization(id), Code.notFound, /organization/);
      await expectRefused(owner.app.getOrganizationMetadata(id), Code.notFound, /organization/);
      await expectRefused(owner.app.updateOrganizationMetadata(id, {}), Code.notFound, /organization/);
      for (const operation of [
        'OrganizationGetLogo',
        'OrganizationSetLogo',
        'OrganizationGetSupportEmail',
        'OrganizationSetSupportEmail',
        'EnableBillingService',
        'UpdateBillingService',
        'DisableBillingService',
        'GetBillingServiceConfig',
      ])
        await expectRefused(owner.ask(operation, { org_id: id }), Code.notFound, /organization/);
    }
    await expectRefused(owner.app.createOrganization(' '), Code.invalidArgument, /name/);
  });

  test('the logo is served at the address in the reply, and gone after its removal', async () => {
    const { ada } = world();
    const org_id = await newOrganization(world(), 'With a logo');
    expect(await ada.ask('OrganizationGetLogo', { org_id })).toEqual({ url: '' });
    await ada.ask('OrganizationSetLogo', { org_id, logo: pixel });
    const url = String((await ada.ask('OrganizationGetLogo', { org_id }))['url']);
    const served = await fetch(url);
    expect(served.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await served.arrayBuffer())).toEqual(pixel);
    const markup = ada.ask('OrganizationSetLogo', { org_id, logo: Buffer.from('<svg onload="alert(1)"/>') });
    await expectRefused(markup, Code.invalidArgument, /PNG or JPEG/);
    await ada.ask('OrganizationSetLogo', { org_id, logo: Buffer.alloc(0) });
    expect(await ada.ask('OrganizationGetLogo', { org_id })).toEqual({ url: '' });
    expect((await fetch(url)).status).toBe(404);
  });

  test('support address and billing service: enabled once, changed, read with logo and address, disabled', async () => {
    const { ada } = world();
    const org_id = await newOrganization(world(), 'Bills');
    await expectRefused(
      ada.ask('GetBillingServiceConfig', { org_id }),
      Code.failedPrecondition,
      /EnableBillingService/,
    );
    await ada.ask('OrganizationSetSupportEmail', { org_id, email: 'help@example.com' });
    expect(await ada.ask('OrganizationGetSupportEmail', { org_id })).toEqual({ email: 'help@example.com' });
    await ada.ask('OrganizationSetLogo', { org_id, logo: pixel });
    const billing_address = {
      address_line_1: 'Mill Lane 1',
      address_line_2: 'Back yard',
      city: 'Porto',
      state: 'PT-13',
      zipcode: '4000-000',
      country: 'PT',
    };
    await ada.ask('EnableBillingService', { org_id, billing_address });
    await expectRefused(
      ada.ask('EnableBillingService', { org_id, billing_address }),
      Code.alreadyExists,
      /UpdateBillingService/,
    );
    expect(await ada.ask('GetBillingServiceConfig', { org_id })).toMatchObject({
      billing_address,
      support_email: 'help@example.com',
      logo_url: (await ada.ask('OrganizationGetLogo', { org_id }))['url'],
    });
    await ada.ask('UpdateBillingService', { org_id, billing_address: { ...billing_address, city: 'Braga' } });
    const changed = await ada.ask('GetBillingServiceConfig', { org_id });
    expect(changed['billing_address']).toMatchObject({ city: 'Braga', zipcode: '4000-000' });
    await ada.ask('DisableBillingService', { org_id });
    await expectRefused(
      ada.ask('UpdateBillingService', { org_id, billing_address }),
      Code.failedPrecondition,
      /Enable/,
    );
    await expectRefused(ada.ask('DisableBillingService', { org_id }), Code.failedPrecondition, /Enable/);
    const address = ada.ask('OrganizationSetSupportEmail', { org_id, email: 'no address' });
    await expectRefused(address, Code.invalidArgument, /e-?mail/i);
  });

  test('metadata of every JSON kind is returned unchanged through the package, on every level', async () => {
    const { owner, cloud } = world();
    const { app } = owner;
    const data = {
      text: 'ü <b>',
      number: 1.5,
      whole: 2 ** 40,
      yes: true,
      nothing: null,
      list: [1, 'two', { deep: [] }],
      empty: {},
    };
    await app.updateOrganizationMetadata(cloud.organizationId, data);
    expect(await app.getOrganizationMetadata(cloud.organizationId)).toEqual(data);
    await app.updateLocationMetadata(cloud.locationId, data);
    expect(await app.getLocationMetadata(cloud.locationId)).toEqual(data);
    await app.updateRobotMetadata(cloud.machineId, data);
    expect(await app.getRobotMetadata(cloud.machineId)).toEqual(data);
    await app.updateRobotPartMetadata(cloud.partId, data);
    expect(await app.getRobotPartMetadata(cloud.partId)).toEqual(data);
    // New metadata replaces the old.
    await app.updateRobotMetadata(cloud.machineId, { other: 1 });
    expect(await app.getRobotMetadata(cloud.machineId)).toEqual({ other: 1 });
    for (const id of [unknownId, cloud.organizationId]) {
      await expectRefused(app.getLocationMetadata(id), Code.notFound, /location/);
      await expectRefused(app.updateLocationMetadata(id, {}), Code.notFound, /location/);
      await expectRefused(app.getRobotMetadata(id), Code.notFound, /machine/);
      await expectRefused(app.updateRobotMetadata(id, {}), Code.notFound, /machine/);
      await expectRefused(app.getRobotPartMetadata(id), Code.notFound, /part/);
      await expectRefused(app.updateRobotPartMetadata(id, {}), Code.notFound, /part/);
    }
  });

  test('D7 metadata that JSON cannot represent is refused, so that the package can always read it', async () => {
    const { owner, cloud } = world();
    const before = await owner.app.getOrganizationMetadata(cloud.organizationId);
    for (const numberValue of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const data = { fields: { good: { numberValue: 1 }, bad: { numberValue } } };
      const write = owner.ask('UpdateOrganizationMetadata', { organization_id: cloud.organizationId, data });
      await expectRefused(write, Code.invalidArgument, /data: \$\.bad: expected a finite number/);
    }
    expect(await owner.app.getOrganizationMetadata(cloud.organizationId)).toEqual(before);
  });
}
