import { appApi } from '@viamrobotics/sdk';
import { expect, test } from 'vitest';
import type { Listed } from './package-types.ts';
import { Code, expectRecent, expectRefused, unknownId, type World } from './world.ts';

export function machineTests(world: () => World): void {
  test('is created with a main part, awaits its setup, is listed, renamed, moved and deleted', async () => {
    const { owner, cloud } = world();
    const { app } = owner;
    const id = await app.newRobot(cloud.locationId, ' press 1 ');
    const robot = await app.getRobot(id);
    expect(robot).toMatchObject({
      id,
      name: 'press 1',
      location: cloud.locationId,
      onlineState: appApi.OnlineState.AWAITING_SETUP,
      secondsSinceOnline: 0n,
    });
    expectRecent(robot?.createdOn);
    expect(robot?.lastAccess).toBeUndefined();
    expect((await app.listRobots(cloud.locationId)).find((one: Listed) => one.id === id)).toEqual(robot);
    const ids = (answer: object): unknown[] => (Reflect.get(answer, 'robots') as { id: string }[]).map((one) => one.id);
    const ofOrganization = await owner.ask('ListRobotsForOrg', { org_id: cloud.organizationId });
    expect(ids(ofOrganization)).toEqual(expect.arrayContaining([id, cloud.machineId]));
    const twice = [cloud.locationId, cloud.locationId];
    const ofLocations = await owner.ask('ListRobotsForLocations', { location_ids: twice });
    expect(ids(ofLocations).filter((one) => one === id)).toHaveLength(1);
    expect(await app.getRobotParts(id)).toMatchObject([{ robot: id, mainPart: true }]);

    const target = (await app.createLocation(cloud.organizationId, 'moved to'))?.id ?? '';
    expect(await app.updateRobot(id, target, 'press 1b')).toMatchObject({ id, name: 'press 1b', location: target });
    expect(await app.getRobot(id)).toMatchObject({ name: 'press 1b', location: target });
    expect((await app.getRobotParts(id))[0]).toMatchObject({ locationId: target });
    expect((await app.listRobots(cloud.locationId)).map((one: Listed) => one.id)).not.toContain(id);

    const partId = (await app.getRobotParts(id))[0]?.id ?? '';
    await app.deleteRobot(id);
    await expectRefused(app.getRobot(id), Code.notFound, /machine/);
    await expectRefused(app.getRobotPart(partId), Code.notFound, /part/);
  });

  test('favorites belong to people: added once, listed with their organization, removed', async () => {
    const { owner, ada, cloud } = world();
    const request = { machine_id: cloud.machineId };
    await ada.ask('AddFavoriteMachine', request);
    await ada.ask('AddFavoriteMachine', request);
    const { favorites } = await ada.ask('ListFavoriteMachines');
    expect(favorites).toMatchObject([{ machine: { id: cloud.machineId }, organization_id: cloud.organizationId }]);
    await ada.ask('RemoveFavoriteMachine', request);
    expect(await ada.ask('ListFavoriteMachines')).toEqual({ favorites: [] });
    await expectRefused(ada.ask('AddFavoriteMachine', { machine_id: unknownId }), Code.notFound, /machine/);
    await expectRefused(ada.ask('RemoveFavoriteMachine', { machine_id: unknownId }), Code.notFound, /machine/);
    for (const operation of ['AddFavoriteMachine', 'RemoveFavoriteMachine', 'ListFavoriteMachines'])
      await expectRefused(owner.ask(operation, request), Code.permissionDenied, /a signed-in person/);
  });

  test('a machine that has called is online: state, last access and seconds in every reply that has them', async () => {
    const { owner, cloud, part } = world();
    const machine = await part(cloud.partId, cloud.partSecret);
    const agent_info = { host: 'press', os: 'linux', version: '1.2.3', platform: 'linux/arm64' };
    await machine.call('platform.app.v1.RobotService', 'Config', { id: cloud.partId, agent_info });
    const robot = await owner.app.getRobot(cloud.machineId);
    expect(robot?.onlineState).toBe(appApi.OnlineState.ONLINE);
    expectRecent(robot?.lastAccess);
    const { part: seen } = await owner.app.getRobotPart(cloud.partId);
    expect(seen?.onlineState).toBe(appApi.OnlineState.ONLINE);
    expectRecent(seen?.lastAccess);
    expect(seen?.userSuppliedInfo?.toJson()).toMatchObject({ version: '1.2.3', platform: 'linux/arm64', os: 'linux' });

    const summaries = await owner.app.listMachineSummaries(cloud.organizationId, [], [cloud.locationId]);
    const [summary] = summaries.flatMap((one: Listed) =>
      one.machineSummaries.filter((each: Listed) => each.machineId === cloud.machineId),
    );
    expect(summaries).toMatchObject([{ locationId: cloud.locationId, locationName: expect.stringMatching(/./) }]);
    expect(summary).toMatchObject({ machineId: cloud.machineId, machineName: robot?.name });
    const [about] = summary?.partSummaries ?? [];
    expect(about).toMatchObject({
      partId: cloud.partId,
      partName: seen?.name,
      isMainPart: true,
      onlineState: appApi.OnlineState.ONLINE,
      dnsName: seen?.fqdn,
      os: 'linux',
      platform: 'linux/arm64',
      viamServerVersion: { version: { case: 'major', value: '1.2.3' } },
    });
    expectRecent(about?.lastAccess);
    expectRecent(about?.lastOnline);
  });

  test('the seconds since the last contact grow in every reply that has them', async () => {
    const { owner, cloud } = world();
    const seconds = async (): Promise<bigint[]> => {
      const { part } = await owner.app.getRobotPart(cloud.partId);
      const summaries = await owner.app.listMachineSummaries(cloud.organizationId, [], [cloud.locationId]);
      const about = summaries.flatMap((one: Listed) =>
        one.machineSummaries.flatMap((each: Listed) => each.partSummaries),
      );
      const summary = about.find((one: Listed) => one.partId === cloud.partId);
      const robot = await owner.app.getRobot(cloud.machineId);
      return [part, summary, robot].map((one) => one?.secondsSinceOnline ?? 0n);
    };
    await expect.poll(async () => (await seconds()).every((one) => one >= 1n)).toBe(true);
  });

  test('summaries are limited by fragment, location and number', async () => {
    const { owner, cloud } = world();
    const { app } = owner;
    const location = (await app.createLocation(cloud.organizationId, 'summaries'))?.id ?? '';
    for (const name of ['a', 'b', 'c']) await app.newRobot(location, name);
    const count = async (fragments: string[], limit?: number): Promise<number> =>
      (await app.listMachineSummaries(cloud.organizationId, fragments, [location], limit)).flatMap(
        (one: Listed) => one.machineSummaries,
      ).length;
    expect(await count([])).toBe(3);
    expect(await count([], 2)).toBe(2);
    expect(await count([unknownId])).toBe(0);
    await expectRefused(app.listMachineSummaries(unknownId), Code.notFound, /organization/);
    await expectRefused(app.listMachineSummaries(cloud.organizationId, [], [unknownId]), Code.notFound, /location/);
  });

  test('moves within its organization only', async () => {
    const { ada, cloud } = world();
    const other = (await ada.app.createOrganization('Elsewhere'))?.id ?? '';
    const there = (await ada.app.createLocation(other, 'there'))?.id ?? '';
    const id = await ada.app.newRobot(cloud.locationId, 'stays here');
    await expectRefused(ada.app.updateRobot(id, there, 'stays here'), Code.failedPrecondition, /own organization/);
    expect((await ada.app.getRobot(id))?.location).toBe(cloud.locationId);
    await ada.app.deleteRobot(id);
  });

  test('keys with a role on a machine are listed with it', async () => {
    const { owner, cloud } = world();
    const { app } = owner;
    const authorization = new appApi.Authorization({
      authorizationType: 'role',
      authorizationId: 'robot_owner',
      resourceType: 'robot',
      resourceId: cloud.machineId,
      organizationId: cloud.organizationId,
    });
    const { id, key } = await app.createKey([authorization], 'of the machine');
    const listed = (await app.getRobotAPIKeys(cloud.machineId)).find((one: Listed) => one.apiKey?.id === id);
    expect(listed).toMatchObject({
      apiKey: { id, key, name: 'of the machine' },
      authorizations: [
        {
          authorizationType: 'role',
          authorizationId: 'robot_owner',
          resourceType: 'robot',
          resourceId: cloud.machineId,
          orgId: cloud.organizationId,
        },
      ],
    });
    expectRecent(listed?.apiKey?.createdOn);
  });

  test('unknown ids and ids of another kind are NOT_FOUND in every operation', async () => {
    const { owner, cloud } = world();
    const { app } = owner;
    for (const id of [unknownId, cloud.partId, '']) {
      for (const call of [
        () => app.getRobot(id),
        () => app.updateRobot(id, cloud.locationId, 'x'),
        () => app.deleteRobot(id),
        () => app.getRobotParts(id),
        () => app.newRobotPart(id, 'x'),
        () => app.getRobotAPIKeys(id),
        () => app.listMachineFragments(id),
      ])
        await expectRefused(call(), Code.notFound, /machine/);
    }
    await expectRefused(app.newRobot(unknownId, 'x'), Code.notFound, /location/);
    await expectRefused(app.updateRobot(cloud.machineId, unknownId, 'x'), Code.notFound, /location/);
    await expectRefused(owner.ask('ListRobotsForOrg', { org_id: unknownId }), Code.notFound, /organization/);
    const some = owner.ask('ListRobotsForLocations', { location_ids: [cloud.locationId, unknownId] });
    await expectRefused(some, Code.notFound, /location/);
  });
}
