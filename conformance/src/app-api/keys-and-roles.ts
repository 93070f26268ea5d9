import { appApi } from '@viamrobotics/sdk';
import { expect, test } from 'vitest';
import type { Listed } from './package-types.ts';
import { roleOn } from './people.ts';
import { Code, expectRecent, expectRefused, unknownId, type World } from './world.ts';

export function keyAndRoleTests(world: () => World): void {
  const operatorKey = (name?: string) => {
    const { owner, cloud } = world();
    const role = roleOn(cloud.organizationId, 'location', cloud.locationId, 'operator');
    return owner.app.createKey([role], name);
  };

  test('a key is created, signs in, is listed with its roles, renamed and deleted', async () => {
    const { owner, cloud, key } = world();
    const { app } = owner;
    const created = await operatorKey(' Line 4 ');
    const caller = await key(created.id, created.key);
    expect(await caller.app.getRobot(cloud.machineId)).toMatchObject({ id: cloud.machineId });
    const find = async () =>
      (await app.listKeys(cloud.organizationId)).find((one: Listed) => one.apiKey?.id === created.id);
    const listed = await find();
    expect(listed).toMatchObject({
      apiKey: { id: created.id, key: created.key, name: 'Line 4' },
      authorizations: [
        {
          authorizationType: 'role',
          authorizationId: 'location_operator',
          resourceType: 'location',
          resourceId: cloud.locationId,
          orgId: cloud.organizationId,
        },
      ],
    });
    expectRecent(listed?.apiKey?.createdOn);
    expect(await owner.ask('RenameKey', { id: created.id, name: 'Line 5' })).toEqual({
      id: created.id,
      name: 'Line 5',
    });
    expect((await find())?.apiKey?.name).toBe('Line 5');
    await app.deleteKey(created.id);
    expect(await find()).toBeUndefined();
    await expectRefused(key(created.id, created.key), Code.permissionDenied, /./);
    await expectRefused(caller.app.getRobot(cloud.machineId), Code.unauthenticated, /./);
  });

  test('a rotated key has a new secret, and the old one still works', async () => {
    const { owner, cloud, key } = world();
    const created = await operatorKey('rotated');
    const rotated = await owner.app.rotateKey(created.id);
    expect(rotated.id).toBe(created.id);
    expect(rotated.key).not.toBe(created.key);
    for (const secret of [created.key, rotated.key])
      expect((await (await key(created.id, secret)).app.getRobot(cloud.machineId))?.id).toBe(cloud.machineId);
  });

  test('a copy of a key has its roles and another secret', async () => {
    const { owner, cloud, key } = world();
    const created = await operatorKey('original');
    const copy = await owner.app.createKeyFromExistingKeyAuthorizations(created.id);
    expect(copy.id).not.toBe(created.id);
    expect((await (await key(copy.id, copy.key)).app.getRobot(cloud.machineId))?.id).toBe(cloud.machineId);
    const keys = await owner.app.listKeys(cloud.organizationId);
    const rolesOf = (id: string) => keys.find((one: Listed) => one.apiKey?.id === id)?.authorizations;
    expect(rolesOf(copy.id)).toEqual(rolesOf(created.id));
  });

  test('unknown keys are NOT_FOUND; a key without a role, and removing the last owner, are refused', async () => {
    const { owner } = world();
    const { app } = owner;
    await expectRefused(app.createKey([]), Code.invalidArgument, /authorizations/);
    await expectRefused(app.createKey([roleOn('', 'robot', unknownId, 'owner')]), Code.notFound, /machine/);
    await expectRefused(app.listKeys(unknownId), Code.notFound, /organization/);
    await expectRefused(app.deleteKey(unknownId), Code.notFound, /key/);
    await expectRefused(app.rotateKey(unknownId), Code.notFound, /key/);
    await expectRefused(app.createKeyFromExistingKeyAuthorizations(unknownId), Code.notFound, /key/);
    await expectRefused(owner.ask('RenameKey', { id: unknownId, name: 'x' }), Code.notFound, /key/);
  });

  test('a role is granted, listed, changed and removed, with effect on the caller', async () => {
    const { owner, cloud, key } = world();
    const { app } = owner;
    const { organizationId, locationId, machineId } = cloud;
    const created = await operatorKey('roles');
    const caller = await key(created.id, created.key);
    await expectRefused(caller.app.updateRobotMetadata(machineId, {}), Code.permissionDenied, /machine/);

    await app.addRole(organizationId, created.id, 'owner', 'robot', machineId);
    await caller.app.updateRobotMetadata(machineId, { by: 'key' });
    const held = async () =>
      (await app.listAuthorizations(organizationId, [machineId, locationId])).filter(
        (one: Listed) => one.identityId === created.id,
      );
    const wire = { authorizationType: 'role', identityType: 'api-key', organizationId };
    expect(await held()).toMatchObject([
      { ...wire, authorizationId: 'location_operator', resourceType: 'location', resourceId: locationId },
      { ...wire, authorizationId: 'robot_owner', resourceType: 'robot', resourceId: machineId },
    ]);
    const mine = roleOn(organizationId, 'robot', machineId, 'owner', created.id);
    await app.changeRole(mine, roleOn(organizationId, 'robot', machineId, 'operator', created.id));
    await expectRefused(caller.app.updateRobotMetadata(machineId, {}), Code.permissionDenied, /machine/);
    await app.removeRole(organizationId, created.id, 'operator', 'robot', machineId);
    expect((await held()).map((one: Listed) => one.authorizationId)).toEqual(['location_operator']);

    const last = app.removeRole(organizationId, created.id, 'operator', 'location', locationId);
    await expectRefused(last, Code.failedPrecondition, /last/);
    const notHeld = app.removeRole(organizationId, created.id, 'operator', 'robot', machineId);
    await expectRefused(notHeld, Code.notFound, /role/);
    const unknown = roleOn(organizationId, 'robot', machineId, 'owner', unknownId);
    await expectRefused(app.changeRole(unknown, unknown), Code.notFound, /role/);
    await expectRefused(app.addRole(organizationId, unknownId, 'owner', 'robot', machineId), Code.notFound, /identity/);
    await expectRefused(
      app.addRole(organizationId, created.id, 'emperor', 'robot', machineId),
      Code.invalidArgument,
      /authorization_id/,
    );
    await expectRefused(app.listAuthorizations(unknownId), Code.notFound, /organization/);
    await expectRefused(caller.app.listAuthorizations(organizationId), Code.permissionDenied, /organization/);
  });

  test('people have roles too, and the last owner of an organization stays an owner', async () => {
    const { ada } = world();
    const id = (await ada.app.createOrganization('Of one'))?.id ?? '';
    expect(await ada.app.listAuthorizations(id)).toMatchObject([
      {
        authorizationId: 'organization_owner',
        identityId: ada.id,
        identityType: 'user',
        resourceType: 'organization',
        resourceId: id,
      },
    ]);
    const last = ada.app.removeRole(id, ada.id, 'owner', 'organization', id);
    await expectRefused(last, Code.failedPrecondition, /owner/);
    const herself = roleOn(id, 'organization', id, 'owner', ada.id);
    const demoted = ada.app.changeRole(herself, roleOn(id, 'organization', id, 'operator', ada.id));
    await expectRefused(demoted, Code.failedPrecondition, /owner/);
    await expectRefused(ada.app.deleteOrganizationMember(id, ada.id), Code.failedPrecondition, /owner/);
  });

  test('permissions are answered for each question: those held, none for unknown resources', async () => {
    const { owner, cloud, key, watch, part } = world();
    const created = await operatorKey('asks');
    const caller = await key(created.id, created.key);
    const asked = (resourceType: string, resourceId: string, ...permissions: string[]) =>
      new appApi.AuthorizedPermissions({ resourceType, resourceId, permissions });
    const robot = ['read_robot', 'control_robot', 'write_robot'];
    const questions = [
      asked('robot', cloud.machineId, ...robot),
      asked('location', cloud.locationId, 'read_location', 'write_location'),
      asked('organization', cloud.organizationId, 'read_organization'),
      asked('robot', unknownId, ...robot),
    ];
    const held = (answers: readonly { permissions: string[] }[]) => answers.map(({ permissions }) => permissions);
    const answers = await caller.app.checkPermissions(questions);
    expect(held(answers)).toEqual([['read_robot', 'control_robot'], ['read_location'], [], []]);
    expect(answers[0]).toMatchObject({ resourceType: 'robot', resourceId: cloud.machineId });
    expect(held(await owner.app.checkPermissions(questions))).toEqual([
      robot,
      ['read_location', 'write_location'],
      ['read_organization'],
      [],
    ]);
    const machine = await part(cloud.partId, cloud.partSecret);
    await expectRefused(watch.ask(machine, 'CheckPermissions'), Code.permissionDenied, /part/);
  });
}
