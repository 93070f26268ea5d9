import { appApi } from '@viamrobotics/sdk';
import { expect, test } from 'vitest';
import type { Listed } from './package-types.ts';
import { Code, expectRecent, expectRefused, unknownId, type World } from './world.ts';

export function locationTests(world: () => World): void {
  const create = async (name: string, parentId?: string): Promise<string> => {
    const { owner, cloud } = world();
    return (await owner.app.createLocation(cloud.organizationId, name, parentId))?.id ?? '';
  };

  test('is created with a secret, read, listed, renamed, given a region and deleted', async () => {
    const { owner, cloud } = world();
    const { app } = owner;
    const created = await app.createLocation(cloud.organizationId, ' Hall ');
    expect(created).toMatchObject({
      id: expect.stringMatching(/^[\w-]+$/),
      name: 'Hall',
      parentLocationId: '',
      robotCount: 0,
      organizations: [{ organizationId: cloud.organizationId, primary: true }],
      primaryOrgIdentity: { id: cloud.organizationId, name: expect.stringMatching(/./) },
    });
    expectRecent(created?.createdOn);
    const id = created?.id ?? '';
    expect(created?.auth).toMatchObject({ locationId: id, secrets: [{ state: appApi.SharedSecret_State.ENABLED }] });
    expect(created?.auth?.secret).toBe(created?.auth?.secrets[0]?.secret);
    expect(await app.getLocation(id)).toEqual(created);
    expect((await app.listLocations(cloud.organizationId)).find((one: Listed) => one.id === id)).toEqual(created);

    const changed = await app.updateLocation(id, 'Hall 2', undefined, 'eu-west');
    expect(changed).toMatchObject({ id, name: 'Hall 2', config: { region: 'eu-west' }, parentLocationId: '' });
    expect(await app.getLocation(id)).toEqual(changed);
    await app.deleteLocation(id);
    await expectRefused(app.getLocation(id), Code.notFound, /location/);
    expect((await app.listLocations(cloud.organizationId)).map((one: Listed) => one.id)).not.toContain(id);
  });

  test('moves into another one and back to the top; not into itself', async () => {
    const { app } = world().owner;
    const [outer, other] = [await create('outer'), await create('other')];
    const inner = await create('inner', outer);
    expect(await app.getLocation(inner)).toMatchObject({ parentLocationId: outer });
    await expectRefused(app.updateLocation(outer, undefined, inner), Code.failedPrecondition, /lies in it/);
    await expectRefused(app.deleteLocation(outer), Code.failedPrecondition, /inner/);
    expect(await app.updateLocation(inner, undefined, other)).toMatchObject({ name: 'inner', parentLocationId: other });
    expect(await app.updateLocation(inner, undefined, '')).toMatchObject({ parentLocationId: '' });
    await app.deleteLocation(outer);
  });

  test('a location with machines counts them and is not deleted, and the refusal names them', async () => {
    const { app } = world().owner;
    const id = await create('with machines');
    const machine = await app.newRobot(id, 'press 7');
    expect((await app.getLocation(id))?.robotCount).toBe(1);
    await expectRefused(app.deleteLocation(id), Code.failedPrecondition, /press 7/);
    await app.deleteRobot(machine);
    await app.deleteLocation(id);
  });

  test('has several secrets, the first of which is also outside the list; the last one stays', async () => {
    const { app } = world().owner;
    const id = await create('secrets');
    const [first] = (await app.locationAuth(id))?.secrets ?? [];
    const auth = await app.createLocationSecret(id);
    expect(auth).toMatchObject({ locationId: id, secret: first?.secret, secrets: [{ id: first?.id }, {}] });
    const [, second] = auth?.secrets ?? [];
    expectRecent(second?.createdOn);
    expect(second?.secret).not.toBe(first?.secret);
    expect(await app.locationAuth(id)).toEqual(auth);
    await app.deleteLocationSecret(id, first?.id ?? '');
    expect(await app.locationAuth(id)).toMatchObject({ secret: second?.secret, secrets: [{ id: second?.id }] });
    await expectRefused(app.deleteLocationSecret(id, second?.id ?? ''), Code.failedPrecondition, /last one/);
    await expectRefused(app.deleteLocationSecret(id, unknownId), Code.notFound, /secret/);
  });

  test('is shared with another organization, which then reads its machines, until sharing ends', async () => {
    const { owner, ada, cloud, key } = world();
    const other = await ada.app.createOrganization('Guests');
    const otherId = other?.id ?? '';
    const authorization = {
      authorizationId: 'organization_operator',
      resourceType: 'organization',
      resourceId: otherId,
    };
    const made = await ada.app.createKey([new appApi.Authorization({ authorizationType: 'role', ...authorization })]);
    const guest = await key(made.id, made.key);
    const id = await create('shared hall');
    const machine = await owner.app.newRobot(id, 'shared press');
    await expectRefused(guest.app.getRobot(machine), Code.notFound, /machine/);

    await owner.app.shareLocation(otherId, id);
    expect(await guest.app.getRobot(machine)).toMatchObject({ id: machine, name: 'shared press' });
    expect(await guest.app.getLocation(id)).toMatchObject({
      primaryOrgIdentity: { id: cloud.organizationId },
      organizations: [
        { organizationId: cloud.organizationId, primary: true },
        { organizationId: otherId, primary: false },
      ],
    });
    // Ada sees both organizations, so she gets both names.
    const { name } = (await ada.app.getOrganization(cloud.organizationId)) ?? { name: '' };
    expect(await ada.app.getOrganizationsWithAccessToLocation(id)).toMatchObject([
      { id: cloud.organizationId, name },
      { id: otherId, name: 'Guests' },
    ]);
    await expectRefused(guest.app.updateLocation(id, 'theirs'), Code.permissionDenied, /location/);
    await expectRefused(
      owner.app.shareLocation(cloud.organizationId, id),
      Code.invalidArgument,
      /another organization/,
    );

    await owner.app.unshareLocation(otherId, id);
    await expectRefused(guest.app.getRobot(machine), Code.notFound, /machine/);
    await expectRefused(owner.app.unshareLocation(otherId, id), Code.notFound, /shared with/);
  });

  test('unknown ids and ids of another kind are NOT_FOUND in every operation', async () => {
    const { owner, cloud } = world();
    const { app } = owner;
    for (const id of [unknownId, cloud.machineId, '']) {
      for (const call of [
        () => app.updateLocation(id, 'x'),
        () => app.deleteLocation(id),
        () => app.locationAuth(id),
        () => app.createLocationSecret(id),
        () => app.deleteLocationSecret(id, unknownId),
        () => app.shareLocation(unknownId, id),
        () => app.unshareLocation(unknownId, id),
        () => app.getOrganizationsWithAccessToLocation(id),
      ])
        await expectRefused(call(), Code.notFound, /location/);
    }
    // A client sends this if its caller gave no id.
    for (const call of [(id: string) => app.getLocation(id), (id: string) => app.listRobots(id)]) {
      for (const id of [unknownId, cloud.machineId]) await expectRefused(call(id), Code.notFound, /location/);
      await expectRefused(call(''), Code.invalidArgument, /location_id: expected an id, found none; ListLocations/);
    }
    await expectRefused(app.listLocations(unknownId), Code.notFound, /organization/);
    await expectRefused(app.createLocation(unknownId, 'x'), Code.notFound, /organization/);
    await expectRefused(app.createLocation(cloud.organizationId, 'x', unknownId), Code.notFound, /location/);
  });
}
