import { create } from '@bufbuild/protobuf';
import { newShortId, systemClock } from '@platform/base';
import { LogEntrySchema } from '@platform/proto/platform/common/v1/common';
import { expect, test } from 'vitest';
import { deleteLocation } from '../accounts/locations/delete-location.ts';
import { machineNamesIn } from './part-places.ts';
import { app, openMachines, robot, type TestMachines } from './testing/open-machines.ts';
import { authorizedAsNobody, messageOf } from './testing/refusals.ts';

/** Creates another location in the same organization. */
async function newLocation({ tree, organizationId }: TestMachines, parentId: string | null = null): Promise<string> {
  const id = newShortId();
  await tree.change(async (trx, changed) => {
    const row = await trx
      .insertInto('locations')
      .values({ id, organization_id: organizationId, parent_id: parentId, name: 'hall', created_ms: 2 })
      .returningAll()
      .executeTakeFirstOrThrow();
    changed.location(row);
  });
  return id;
}

const auditOf = async ({ db }: TestMachines): Promise<string[]> =>
  (await db.selectFrom('audit_entries').select('action').orderBy('id').execute()).map(({ action }) => action);

test('a machine is created with a main part, renamed, moved and listed; each change is audited', async () => {
  const given = await openMachines();
  const { ask, owner, locationId, registry } = given;
  const { id } = await ask(owner, app.newRobot, { name: ' crane ', location: locationId });
  const hall = await newLocation(given);
  const { robot: moved } = await ask(owner, app.updateRobot, { id, name: '<i>crane</i>', location: hall });
  expect(moved).toMatchObject({ name: '<i>crane</i>', location: hall });
  const names = (robots: readonly { name: string }[]) => robots.map(({ name }) => name);
  expect(names((await ask(owner, app.listRobots, { locationId })).robots)).toEqual(['press']);
  const everywhere = await ask(owner, app.listRobotsForLocations, { locationIds: [locationId, hall] });
  expect(names(everywhere.robots)).toEqual(['press', '<i>crane</i>']);
  const all = await ask(owner, app.listRobotsForOrg, { orgId: given.organizationId });
  expect(names(all.robots).sort()).toEqual(['<i>crane</i>', 'press']);
  const [main] = registry.partsOf(id);
  expect(main).toMatchObject({ name: 'crane-main', main: 1 });
  expect(await auditOf(given)).toEqual(['AppService.NewRobot', 'AppService.UpdateRobot']);
  expect((await given.restarted()).registry.machine(id)).toMatchObject({ name: '<i>crane</i>' });
});

test('D36 of machines that are made at the same time with one name, one is made', async () => {
  const { ask, owner, locationId, db } = await openMachines();
  const names = ['crane', 'crane', 'Crane ', 'crane'];
  const made = await Promise.allSettled(names.map((name) => ask(owner, app.newRobot, { name, location: locationId })));
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const stored = await db.selectFrom('machines').select('name').where('location_id', '=', locationId).execute();
  expect(stored.filter(({ name }) => name.toLowerCase() === 'crane')).toHaveLength(1);
});

test('invalid names are refused, and nothing is created', async () => {
  const { ask, owner, locationId, machineId, registry } = await openMachines();
  for (const name of ['', '  ', 'x'.repeat(10_240), 'a\u0000b', 'a\u2028b', 'line\nline']) {
    const refused = { code: 'invalid_argument' };
    await expect(ask(owner, app.newRobot, { name, location: locationId })).rejects.toMatchObject(refused);
    await expect(ask(owner, app.newRobotPart, { robotId: machineId, partName: name })).rejects.toMatchObject(refused);
  }
  expect(registry.machinesOf(locationId)).toHaveLength(1);
  expect(registry.partsOf(machineId)).toHaveLength(1);
});

test('parts: several, one main, found by name and location; the main part can be deleted only with its machine', async () => {
  const given = await openMachines();
  const { ask, owner, locationId, machineId, partId, registry } = given;
  const { partId: arm } = await ask(owner, app.newRobotPart, { robotId: machineId, partName: 'arm' });
  await expect(ask(owner, app.newRobotPart, { robotId: machineId, partName: 'arm' })).rejects.toMatchObject({
    code: 'already_exists',
  });
  await expect(ask(owner, app.deleteRobotPart, { partId })).rejects.toThrow(/the main part.*delete the machine/);
  await ask(owner, app.markPartAsMain, { partId: arm });
  expect(registry.partsOf(machineId).map(({ id, main }) => [id, main])).toEqual([
    [arm, 1],
    [partId, 0],
  ]);
  const byName = await ask(owner, app.getRobotPartByNameAndLocation, { name: 'arm', locationId });
  expect(byName.part?.id).toBe(arm);
  await ask(owner, app.deleteRobotPart, { partId });
  const { parts } = await ask(owner, app.getRobotParts, { robotId: machineId });
  expect(parts.map(({ id }) => id)).toEqual([arm]);
  expect((await given.restarted()).registry.partsOf(machineId)).toHaveLength(1);
});

test('D29 deleting a machine deletes its parts, configurations, secrets, roles, status and logs', async () => {
  const given = await openMachines();
  const { ask, db, owner, itself, machineId, machines, partId, partSecret, organizationId, savedTriggers } = given;
  await ask(owner, app.updateRobotPart, { id: partId, robotConfigJson: '{"debug":true}' });
  await ask(itself, robot.config, { id: partId });
  await machines.logs.append(partId, [create(LogEntrySchema, { level: 'info', message: 'x' })]);
  const grant = { identity_id: 'k2', identity_type: 'api-key', role: 'owner', location_id: null } as const;
  await db
    .insertInto('grants')
    .values({ ...grant, organization_id: organizationId, robot_id: machineId })
    .execute();
  await ask(owner, app.deleteRobot, { id: machineId });
  // A status that was being stored when the part was deleted does not reappear.
  await ask(owner, app.listRobots, { locationId: given.locationId });
  while (await machines.logs.forget()) {}
  for (const table of [
    'machines',
    'parts',
    'part_secrets',
    'part_configurations',
    'part_status',
    'machine_logs',
  ] as const)
    expect(await db.selectFrom(table).selectAll().execute(), table).toEqual([]);
  expect(await db.selectFrom('grants').select('identity_id').where('robot_id', '=', machineId).execute()).toEqual([]);
  expect(savedTriggers.at(-1)).toEqual([]);
  expect(await machines.partSecrets.check(partId, partSecret)).toBeUndefined();
  expect(await machines.partSecrets.isCurrent(partId, 1)).toBe(false);
  // Uploads and polls of a deleted part are refused like those of a part that never existed.
  expect(() => machines.authorizePart(itself, partId)).toThrow(/expected the id of one that you may see/);
  await expect(ask(owner, app.getRobot, { id: machineId })).rejects.toMatchObject({ code: 'not_found' });
});

test('D5 D6 a part has several secrets; deleting one stops only its own tokens, and the last one stays', async () => {
  const given = await openMachines();
  const { ask, owner, itself, machines, partId, partSecret, key } = given;
  const { part } = await ask(owner, app.createRobotPartSecret, { partId });
  const [first, second] = part?.secrets ?? [];
  expect([first?.secret, part?.secret]).toEqual([partSecret, partSecret]);
  const epochs = [
    await machines.partSecrets.check(partId, first?.secret ?? ''),
    await machines.partSecrets.check(partId, second?.secret ?? ''),
  ] as const;
  expect(new Set([...epochs, undefined]).size).toBe(3);
  await ask(owner, app.deleteRobotPartSecret, { partId, secretId: first?.id ?? '' });
  const living = (of: typeof machines) =>
    Promise.all(epochs.map((epoch) => of.partSecrets.isCurrent(partId, epoch ?? -1)));
  expect(await living(machines)).toEqual([false, true]);
  expect(await living(await given.restarted())).toEqual([false, true]);
  const last = { partId, secretId: second?.id ?? '' };
  await expect(ask(owner, app.deleteRobotPartSecret, last)).rejects.toThrow(/last one; create another one first/);
  // A new secret never gets the epoch of a deleted one.
  await ask(owner, app.createRobotPartSecret, { partId });
  expect(await living(machines)).toEqual([false, true]);
  // Operators see no secrets; the part sees its own.
  expect((await ask(key('operator'), app.getRobotPart, { id: partId })).part).toMatchObject({
    secret: '',
    secrets: [],
  });
  expect((await ask(itself, app.getRobotPart, { id: partId })).part?.secrets).toHaveLength(2);
});

test('foreign and unknown ids get the same answer from every operation, and a part cannot manage anything', async () => {
  const given = await openMachines();
  const { ask, machineId, partId, locationId, organizationId, itself, key } = given;
  const foreign = key('owner', { organizationId: 'another' });
  const operations = authorizedAsNobody({ machineId, partId, locationId, organizationId });
  expect(operations.length).toBeGreaterThan(25);
  for (const [method, known, unknown] of operations) {
    const [ofKnown, ofUnknown] = await Promise.all([
      messageOf(ask(foreign, method, known)),
      messageOf(ask(foreign, method, unknown)),
    ]);
    expect(
      ofKnown
        .replaceAll(machineId, 'ID')
        .replaceAll(partId, 'ID')
        .replaceAll(locationId, 'ID')
        .replaceAll(organizationId, 'ID'),
      method.name,
    ).toBe(ofUnknown.replaceAll('nobody', 'ID'));
    expect(ofKnown, method.name).toMatch(/^not_found/);
  }
  for (const method of [app.deleteRobotPart, app.markPartAsMain, app.createRobotPartSecret, app.markPartForRestart])
    await expect(ask(itself, method, { partId })).rejects.toMatchObject({ code: 'permission_denied' });
});

test('R6 operators read and change nothing', async () => {
  const { ask, key, machineId, partId, locationId } = await openMachines();
  const operator = key('operator');
  await ask(operator, app.getRobotPart, { id: partId });
  await ask(operator, app.getRobotMetadata, { id: machineId });
  const denied = { code: 'permission_denied' };
  await expect(ask(operator, app.newRobot, { name: 'x', location: locationId })).rejects.toMatchObject(denied);
  await expect(ask(operator, app.updateRobot, { id: machineId, name: 'x' })).rejects.toMatchObject(denied);
  await expect(ask(operator, app.deleteRobot, { id: machineId })).rejects.toMatchObject(denied);
  await expect(ask(operator, app.updateRobotPart, { id: partId, robotConfigJson: '{}' })).rejects.toMatchObject(denied);
  await expect(ask(operator, app.updateRobotPartMetadata, { id: partId, data: {} })).rejects.toMatchObject(denied);
  await expect(ask(operator, app.markPartForRestart, { partId })).rejects.toMatchObject(denied);
});

test('R10 an owner moves a machine only to a location that they own, and never to another organization', async () => {
  const given = await openMachines();
  const { ask, key, machineId } = given;
  const hall = await newLocation(given);
  const machineOwner = key('owner', { robotId: machineId });
  await expect(ask(machineOwner, app.updateRobot, { id: machineId, location: hall })).rejects.toMatchObject({
    code: 'not_found',
  });
  await ask(machineOwner, app.updateRobot, { id: machineId, name: 'mine' });
  expect((await ask(machineOwner, app.getRobot, { id: machineId })).robot?.name).toBe('mine');
});

test('metadata of machines and parts is written and read whole; too much of it is refused', async () => {
  const { ask, owner, machineId, partId } = await openMachines();
  expect((await ask(owner, app.getRobotMetadata, { id: machineId })).data).toEqual({});
  const data = { '<b>': [1, null, { 'a.b': 'ü' }] };
  await ask(owner, app.updateRobotMetadata, { id: machineId, data });
  await ask(owner, app.updateRobotPartMetadata, { id: partId, data: { x: 1 } });
  expect((await ask(owner, app.getRobotMetadata, { id: machineId })).data).toEqual(data);
  expect((await ask(owner, app.getRobotPartMetadata, { id: partId })).data).toEqual({ x: 1 });
  const much = { text: 'x'.repeat(2 * 1024 * 1024) };
  await expect(ask(owner, app.updateRobotMetadata, { id: machineId, data: much })).rejects.toMatchObject({
    code: 'invalid_argument',
  });
});

test('machine summaries: only what the caller sees, filtered by location and fragment, at most `limit` machines', async () => {
  const given = await openMachines();
  const { ask, owner, key, itself, organizationId, locationId, machineId, partId } = given;
  const hall = await newLocation(given);
  await ask(owner, app.newRobot, { name: 'crane', location: hall });
  await ask(itself, robot.config, {
    id: partId,
    agentInfo: { version: '1.2.3', platform: 'linux/arm64', os: 'linux' },
  });
  const names = async (principal: typeof owner, request: object) => {
    const { locationSummaries } = await ask(principal, app.listMachineSummaries, { organizationId, ...request });
    return locationSummaries.flatMap((one) => one.machineSummaries.map(({ machineName }) => machineName)).sort();
  };
  expect(await names(owner, {})).toEqual(['crane', 'press']);
  expect(await names(owner, { locationIds: [hall] })).toEqual(['crane']);
  expect(await names(owner, { limit: 1 })).toHaveLength(1);
  expect(await names(owner, { fragmentIds: ['none'] })).toEqual([]);
  expect(await names(key('operator', { robotId: machineId }), {})).toEqual(['press']);
  const { locationSummaries } = await ask(owner, app.listMachineSummaries, {
    organizationId,
    locationIds: [locationId],
  });
  const part = locationSummaries[0]?.machineSummaries[0]?.partSummaries[0];
  expect(part).toMatchObject({ partId, isMainPart: true, platform: 'linux/arm64', os: 'linux' });
  expect(part?.viamServerVersion?.version.value).toBe('1.2.3');
});

test('a machine and its first configuration are created atomically', async () => {
  let fails = true;
  const given = await openMachines({
    firstDocument: () => '{"debug":true}',
    onConfigurationChange: async () => {
      if (fails) throw new Error('the disk is full');
    },
  });
  const { ask, owner, db, locationId } = given;
  const machines = async () => (await ask(owner, app.listRobots, { locationId })).robots.map(({ name }) => name);
  const parts = () => db.selectFrom('parts').select('id').execute();
  await expect(ask(owner, app.newRobot, { name: 'crane', location: locationId })).rejects.toThrow('the disk is full');
  expect(await machines()).toEqual(['press']);
  expect(await parts()).toHaveLength(1);
  fails = false;
  const { id } = await ask(owner, app.newRobot, { name: 'crane', location: locationId });
  expect(await machines()).toEqual(['crane', 'press']);
  const [part] = (await ask(owner, app.getRobotParts, { robotId: id })).parts;
  expect(part?.robotConfig).toEqual({ debug: true });
  const history = await given.machines.configurations.history(part?.id ?? '');
  expect(history.map(({ version, author }) => [version, author.kind])).toEqual([[1, 'api-key']]);
});

test('if a machine is created while its location is deleted, one succeeds and the other is refused with the reason', async () => {
  const given = await openMachines({ firstDocument: () => '{"debug":true}' });
  const { ask, owner, tree, access, instanceKey } = given;
  const deps = {
    ...given,
    tree,
    access,
    instanceKey,
    clock: systemClock,
    machineNamesIn,
    organizationDeleting: [],
    keysEnded: () => {},
    accessChanged: () => {},
  };
  const outcomes: string[] = [];
  for (let round = 0; round < 4; round++) {
    const location = await newLocation(given);
    const create = () => messageOf(ask(owner, app.newRobot, { name: 'crane', location }));
    const remove = () =>
      messageOf(deleteLocation(deps as never, { principal: owner, peerAddress: '127.0.0.1:1' }, location));
    const said = (await Promise.allSettled(round % 2 === 0 ? [create(), remove()] : [remove(), create()]))
      .map((one) => (one.status === 'fulfilled' ? one.value : 'done').replace(/ .*/, ''))
      .toSorted();
    outcomes.push(said.join());
  }
  expect(new Set(outcomes).difference(new Set(['done,failed_precondition', 'done,not_found']))).toEqual(new Set());
});

test('D36 two machines at one location have different names, whether created, renamed or moved', async () => {
  const given = await openMachines();
  const { ask, owner, locationId } = given;
  const hall = await newLocation(given);
  const { id } = await ask(owner, app.newRobot, { name: 'crane', location: locationId });
  const { id: other } = await ask(owner, app.newRobot, { name: 'Crane', location: hall });
  const taken = { code: 'already_exists', message: expect.stringContaining(`the name of machine ${id}`) };
  await expect(ask(owner, app.newRobot, { name: ' CRANE', location: locationId })).rejects.toMatchObject(taken);
  await expect(ask(owner, app.updateRobot, { id: other, location: locationId })).rejects.toMatchObject(taken);
  expect((await ask(owner, app.updateRobot, { id, name: 'Crane' })).robot?.name).toBe('Crane');
});
