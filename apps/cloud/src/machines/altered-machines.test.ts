import { AppService } from '@platform/proto/platform/app/v1/app';
import { expect, test } from 'vitest';
import { newestDocuments } from './configuration/newest-documents.ts';
import { openMachines, type TestMachines } from './testing/open-machines.ts';

const { getRobot, listRobots, getRobotPart, getRobotParts, updateRobotPart, getRobotPartHistory } = AppService.method;

const isLost = (message: RegExp) => ({ code: 'data_loss', message: expect.stringMatching(message) });

/** Asks as an owner, after a restart: machines and parts are read once. */
async function askRestarted(on: TestMachines): Promise<TestMachines['ask']> {
  const machines = await on.restarted();
  return (principal, method, request) => on.ask(principal, method, request, {}, machines);
}

test.each([
  [
    'deleted',
    (id: string) =>
      `delete from part_secrets where part_id = '${id}'; delete from part_configurations where part_id = '${id}'; delete from parts where id = '${id}'`,
    /parts of \S+: expected 2 rows, found 1/,
  ],
  [
    'emptied of its checksum',
    (id: string) => `update parts set row_check = null where id = '${id}'`,
    /part \S+: its row/,
  ],
  [
    'altered',
    (id: string) => `update parts set name = 'x' where id = '${id}'`,
    /part \S+: its row in parts was altered/,
  ],
])(
  'D33 a part whose row was %s is DATA_LOSS for itself and its list after a restart',
  async (_kind, statement, message) => {
    const on = await openMachines();
    const { partId: id } = await on.ask(on.owner, AppService.method.newRobotPart, {
      ...{ robotId: on.machineId, partName: 'second' },
    });
    expect((await on.ask(on.owner, getRobotParts, { robotId: on.machineId })).parts).toHaveLength(2);
    expect(await on.rows.look()).toEqual([]);
    await on.alterRows(statement(id));
    const ask = await askRestarted(on);
    await expect(ask(on.owner, getRobotPart, { id })).rejects.toMatchObject(isLost(message));
    if (_kind !== 'emptied of its checksum')
      await expect(ask(on.owner, getRobotParts, { robotId: on.machineId })).rejects.toMatchObject({
        code: 'data_loss',
      });
    expect((await ask(on.owner, getRobotPart, { id: on.partId })).part?.id).toBe(on.partId);
    expect((await on.rows.look()).join('; ')).toMatch(message);
  },
);

test('D33 a machine moved to another location in the database is DATA_LOSS for both lists after a restart', async () => {
  const on = await openMachines();
  const other = await on.db
    .insertInto('locations')
    .values({ id: 'other', organization_id: on.organizationId, parent_id: null, name: 'other', created_ms: 1 } as never)
    .execute();
  expect(other).toHaveLength(1);
  await on.alterRows(`update machines set location_id = 'other' where id = '${on.machineId}'`);
  const ask = await askRestarted(on);
  await expect(ask(on.owner, getRobot, { id: on.machineId })).rejects.toMatchObject(isLost(/machine \S+: its row/));
  await expect(ask(on.owner, listRobots, { locationId: on.locationId })).rejects.toMatchObject(
    isLost(/machines of \S+: expected 1 rows, found 0/),
  );
});

test('D33 an altered or deleted secret of a part is DATA_LOSS for whoever uses it', async () => {
  const on = await openMachines();
  await expect(on.machines.partSecrets.check(on.partId, on.partSecret)).resolves.toBe(1);
  await on.alterRows(`update part_secrets set secret_hash = secret where part_id = '${on.partId}'`);
  await expect(on.machines.partSecrets.check(on.partId, on.partSecret)).rejects.toMatchObject({ code: 'data_loss' });
  await on.alterRows('delete from part_secrets');
  await expect(on.machines.partSecrets.check(on.partId, on.partSecret)).rejects.toMatchObject(
    isLost(/part_secrets of \S+: expected 1 rows, found 0/),
  );
});

test.each([
  ['deleted', 'delete from part_configurations where version = 2', /expected 2 rows, found 1/],
  [
    'exchanged with an older one',
    'update part_configurations set document = (select document from part_configurations where version = 1) where version = 2',
    /configuration of part \S+ 2: its row/,
  ],
  [
    'moved to another version',
    'update part_configurations set version = 7 where version = 2',
    /configuration of part \S+ 7: its row/,
  ],
  [
    'emptied of its checksum',
    'update part_configurations set row_check = null where version = 2',
    /configuration of part \S+ 2/,
  ],
])('D33 a configuration that was %s is not served, not listed, and not edited', async (_kind, statement, message) => {
  const on = await openMachines();
  const save = (n: number) =>
    on.ask(on.owner, updateRobotPart, {
      id: on.partId,
      name: 'main',
      robotConfigJson: JSON.stringify({ debug: n === 1 }),
    });
  await save(1);
  await save(2);
  expect(await on.rows.look()).toEqual([]);
  await on.alterRows(statement);
  const { configurations } = await on.restarted();
  await expect(configurations.current(on.partId)).rejects.toMatchObject(isLost(message));
  await expect(configurations.history(on.partId)).rejects.toMatchObject(isLost(message));
  await expect(configurations.summaries(on.partId, { limit: 10 })).rejects.toMatchObject(isLost(message));
  await expect(configurations.version(on.partId, 2)).rejects.toMatchObject({ code: 'data_loss' });
  const ask = await askRestarted(on);
  await expect(ask(on.owner, getRobotPartHistory, { id: on.partId })).rejects.toMatchObject({ code: 'data_loss' });
  expect((await on.rows.look()).join('; ')).toMatch(message);
});

test('D33 a lost older version of a configuration leaves the newest one served, and its list refused', async () => {
  const on = await openMachines();
  for (const robotConfigJson of ['{"debug":true}', '{"debug":false}', '{"debug":true}'])
    await on.ask(on.owner, updateRobotPart, { id: on.partId, name: 'main', robotConfigJson });
  await on.alterRows('delete from part_configurations where version = 1');
  const { configurations } = await on.restarted();
  expect((await configurations.current(on.partId)).version).toBe(3);
  expect((await configurations.version(on.partId, 2)).version).toBe(2);
  await expect(configurations.version(on.partId, 1)).rejects.toMatchObject({ code: 'data_loss' });
  await expect(configurations.history(on.partId)).rejects.toMatchObject({ code: 'data_loss' });

  await on.alterRows('delete from part_configurations');
  const { configurations: empty } = await on.restarted();
  await expect(empty.current(on.partId)).rejects.toMatchObject(isLost(/expected 3 rows, found 0/));
});

test('D33 the newest configurations of many parts are compared in one statement, and a lost one is DATA_LOSS', async () => {
  const on = await openMachines();
  const partIds = [on.partId];
  for (const partName of ['a', 'b', 'c', 'd'])
    partIds.push((await on.ask(on.owner, AppService.method.newRobotPart, { robotId: on.machineId, partName })).partId);
  for (const id of partIds)
    await on.ask(on.owner, updateRobotPart, { id, name: `of ${id}`, robotConfigJson: '{"debug":true}' });
  let statements = 0;
  const counted = on.db.withPlugin({
    transformQuery({ node }) {
      statements++;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  expect((await newestDocuments(counted, partIds)).size).toBe(5);
  expect(statements).toBe(1);
  statements = 0;
  expect((await newestDocuments(counted, [...partIds, 'new', 'newer'])).size).toBe(5);
  expect(statements).toBe(2);

  await on.alterRows(`delete from part_configurations where part_id = '${partIds[3]}'`);
  await expect(newestDocuments(counted, partIds)).rejects.toMatchObject(isLost(/expected 1 rows, found 0/));
});
