import { create } from '@bufbuild/protobuf';
import { silentLog, systemClock } from '@platform/base';
import { FilterSchema, Order } from '@platform/proto/platform/app/data/v1/data';
import { FragmentVisibility } from '@platform/proto/platform/app/v1/app';
import { expect, test } from 'vitest';
import { callOf } from '../access/testing/call-of.ts';
import { countFiles, filesNamed, pageOfFiles } from '../binary/find/find-files.ts';
import { createFragments, type Fragments } from '../fragments/feature.ts';
import { ManualClock } from '../machines/testing/manual-clock.ts';
import { app, openMachines, type TestMachines } from '../machines/testing/open-machines.ts';
import type { Database } from '../metadata/tables.ts';
import type { Removed } from '../tabular/deletion/remove-deleted.ts';
import { createRetention, type Retention } from './feature.ts';
import { createRemoveStep, type RemoveDeps } from './remove-expired.ts';
import { insertFile } from './testing/insert-file.ts';

const dayMs = 86_400_000;
const nowMs = Date.UTC(2026, 4, 17);
const signal = new AbortController().signal;

interface Cloud extends TestMachines {
  readonly retention: Retention;
  readonly fragments: Fragments;
  save(document: object): Promise<void>;
  /** The standing rules for the part, as of midnight. */
  rules(): ReturnType<Retention['standingRulesOf']>;
}

/** Machines, fragments and retention, composed as in the cloud. */
async function given(): Promise<Cloud> {
  const wired: { fragments?: Fragments; retention?: Retention; machines?: TestMachines } = {};
  const fragmentsOf = (): Fragments => wired.fragments as Fragments;
  const retentionOf = (): Retention => wired.retention as Retention;
  const machines = await openMachines({
    effective: {
      effective: (...asked) => fragmentsOf().effective(...asked),
      stampOf: (partId) => fragmentsOf().stampOf(partId),
      problemsOf: (partId) => fragmentsOf().problemsOf(partId),
      saving: (...saved) => fragmentsOf().saving(...saved),
      deleting: (...deleted) => fragmentsOf().deleting(...deleted),
    },
    onConfigurationChange: (trx, changes) => retentionOf().configurationsChanged(trx, changes),
  });
  const { db, tree, access, organizationId, owner, partId, ask } = machines;
  const documentOf = async (id: string): Promise<unknown> =>
    JSON.parse((await machines.machines.configurations.current(id)).document);
  const fragments = createFragments({
    maxFragmentsOf: () => 1_000,
    ...{
      db,
      tree,
      access,
      documentOf,
      clock: systemClock,
      log: silentLog,
      targetProblems: async () => [],
      triggerProblems: () => [],
    },
    onConfigurationChange: (trx, changes) => retentionOf().configurationsChanged(trx, changes),
    tellPart: async () => {},
  });
  wired.fragments = fragments;
  const retention = createRetention({ db, now: () => nowMs });
  wired.retention = retention;
  return {
    ...machines,
    retention,
    fragments,
    async save(document) {
      await ask(owner, app.updateRobotPart, { id: partId, robotConfig: document as never });
    },
    rules: () => retention.standingRulesOf(organizationId, nowMs),
  };
}

const sensor = (attributes: object) => ({
  ...{ name: 'cpu', api: 'core:component:sensor', model: 'core:builtin:fake' },
  service_configs: [{ type: 'data_manager', attributes }],
});
const dataManager = { name: 'dm', api: 'core:service:data_manager', model: 'core:builtin:builtin' };

test('D24 a save applies from its commit on, the shorter of part and resource wins, and days are UTC days', async () => {
  const { save, rules, partId } = await given();
  expect(await rules()).toEqual({ expired: [], recent: [] });
  await save({ data_retention_policy: { days: 1 }, components: [sensor({ retention_policy: { days: 3 } })] });
  expect((await rules()).expired).toEqual([{ paths: { part_id: [partId] }, beforeDay: '2026-05-17' }]);
  const method = { method: 'Readings', capture_frequency_hz: 1, recent_data_store: { stored_hours: 4 } };
  await save({
    data_retention_policy: { days: 10 },
    components: [sensor({ retention_policy: { days: 3 }, capture_methods: [method] })],
  });
  const cpu = { part_id: [partId], component_type: ['core:component:sensor'], component_name: ['cpu'] };
  expect(await rules()).toEqual({
    expired: [
      { paths: { part_id: [partId] }, beforeDay: '2026-05-08' },
      { paths: cpu, beforeDay: '2026-05-15' },
    ],
    recent: [{ paths: { ...cpu, method_name: ['Readings'] }, storedHours: 4 }],
  });
  await save({ data_retention_policy: { days: 0 } });
  expect(await rules()).toEqual({ expired: [], recent: [] });
});

test("D24 a changed fragment applies to the parts that use it, but a part's own settings take precedence", async () => {
  const { save, rules, fragments, organizationId, owner } = await given();
  const { createFragment, updateFragment } = fragments.appHandlers;
  const visibility = FragmentVisibility.PRIVATE;
  const ask = (config: object) => ({ name: 'f', config, organizationId, visibility }) as never;
  const made = await createFragment?.(ask({ data_retention_policy: { days: 5 } }), callOf(owner));
  const id = made?.fragment?.id ?? '';
  const daysLeft = async () => (await rules()).expired.map(({ beforeDay }) => beforeDay);
  await save({ fragments: [{ id }] });
  expect(await daysLeft()).toEqual(['2026-05-13']);
  await updateFragment?.({ ...(ask({ data_retention_policy: { days: 2 } }) as object), id } as never, callOf(owner));
  expect(await daysLeft()).toEqual(['2026-05-16']);
  await save({ fragments: [{ id }], data_retention_policy: { days: 30 } });
  expect(await daysLeft()).toEqual(['2026-04-18']);
});

test('D24 the policies of 10,000 parts become one rule, and a save rereads only what it changed', async () => {
  const { save, rules, db, organizationId, partId } = await given();
  await save({ data_retention_policy: { days: 7 } });
  const policies = JSON.stringify({ days: 7, resources: [], recent: [], deleteOnPartDeletion: false });
  const row = { organization_id: organizationId, policies, change: 2 };
  for (let at = 0; at < 10_000; at += 100)
    await db
      .insertInto('data_policies')
      .values(Array.from({ length: 100 }, (_, i) => ({ ...row, part_id: `p-${at + i}` })))
      .execute();
  await db.updateTable('data_policy_changes').set({ change: 2 }).execute();
  const { expired } = await rules();
  expect(expired.map(({ paths }) => paths.part_id?.length)).toEqual([10_001]);
  await save({ data_retention_policy: { days: 8 } });
  expect((await rules()).expired.map(({ paths }) => paths.part_id?.length)).toEqual([1, 10_000]);
  expect((await rules()).expired[0]?.paths.part_id).toEqual([partId]);
});

test("I10 a deleted part's data is deleted too if its configuration says so, and audited; otherwise its retention applies", async () => {
  for (const deletes of [true, false]) {
    const { save, ask, owner, machineId, partId, db, rules } = await given();
    await save({
      data_retention_policy: { days: 4 },
      services: [{ ...dataManager, attributes: { delete_data_on_part_deletion: deletes } }],
    });
    await insertFile(db, { id: 'f-1', part_id: partId });
    await insertFile(db, { id: 'f-2', part_id: 'other' });
    await ask(owner, app.deleteRobot, { id: machineId });
    const rows = await db.selectFrom('tabular_deletes').select(['predicate', 'up_to']).execute();
    const all = { predicate: JSON.stringify({ paths: { part_id: [partId] } }), up_to: Number.MAX_SAFE_INTEGER };
    expect(rows).toEqual(deletes ? [all] : []);
    expect(await filesIn(db)).toEqual(deletes ? ['f-2'] : ['f-1', 'f-2']);
    const audited = await db
      .selectFrom('audit_entries')
      .select(['actor_kind', 'target_id'])
      .where('action', '=', 'platform.delete-part-data')
      .execute();
    expect(audited).toEqual(deletes ? [{ actor_kind: 'api-key', target_id: partId }] : []);
    // Hidden data must not reappear because the part was deleted.
    expect((await rules()).expired).toEqual([{ paths: { part_id: [partId] }, beforeDay: '2026-05-14' }]);
  }
});

const nothingRemoved: Removed = { droppedFiles: 0, rewrittenFiles: 0, endedDeletions: 0, complete: true };

function stepOf(cloud: Cloud, clock: ManualClock, tabular: Partial<RemoveDeps['tabular']> = {}) {
  const { db, retention, organizationId } = cloud;
  return createRemoveStep({
    ...{ db, retention, clock, log: silentLog, deletions: { held: false } },
    tabular: {
      organizations: async () => [organizationId],
      removeDeleted: async () => nothingRemoved,
      bytesByDay: async (_organization, rules) => rules.map(() => new Map()),
      lag: () => ({ committedPosition: 70, loadedPosition: 70, sealedPosition: 70, unsealedBytes: 0, isAsked: false }),
      ...tabular,
    },
    settleMs: 1,
  });
}

function clockAt(wallMs: number): ManualClock {
  const clock = new ManualClock();
  clock.wallMs = wallMs;
  return clock;
}

test('D24 a resource above its size limit loses its oldest whole days, once, and the current day stays', async () => {
  const cloud = await given();
  const { save, db, partId } = cloud;
  await save({ components: [sensor({ retention_policy: { tabular_limit_gb: 2 } })] });
  const sizes = new Map([
    ['2026-05-13', 0.5e9],
    ['2026-05-14', 1e9],
    ['2026-05-15', 1e9],
    ['2026-05-16', 1e9],
  ]);
  const clock = clockAt(nowMs - 1);
  const step = stepOf(cloud, clock, { bytesByDay: async (_organization, rules) => rules.map(() => sizes) });
  clock.pass(2);
  await step(signal);
  const paths = { part_id: [partId], component_type: ['core:component:sensor'], component_name: ['cpu'] };
  const deletions = async () =>
    (await db.selectFrom('tabular_deletes').select(['predicate', 'up_to']).orderBy('id').execute()).map((row) => ({
      ...JSON.parse(row.predicate),
      upTo: row.up_to,
    }));
  const first = { paths, beforeDay: '2026-05-15', sparesHot: true, upTo: 70 };
  expect(await deletions()).toEqual([first]);
  // Its rows are still counted, because the hot store may hold them, but they are already deleted.
  await step(signal);
  expect(await deletions()).toEqual([first]);
  sizes.set('2026-05-17', 9e9);
  await step(signal);
  expect(await deletions()).toEqual([first, { ...first, beforeDay: '2026-05-17' }]);
  await step(signal);
  expect(await deletions()).toHaveLength(2);
});

test('D24 binary data is removed by day and by size like readings, and nothing else is removed', async () => {
  const cloud = await given();
  const { save, db, partId } = cloud;
  const policy = { days: 3, binary_limit_gb: 1 };
  await save({ data_retention_policy: { days: 5 }, components: [sensor({ retention_policy: policy })] });
  const today = nowMs / dayMs;
  const cpu = { part_id: partId, component_type: 'core:component:sensor', component_name: 'cpu' };
  for (const [i, daysAgo] of [0, 1, 2, 3, 5].entries()) {
    await insertFile(db, { ...cpu, id: `cpu-${i}`, capture_day: today - daysAgo, size_bytes: 0.4e9 });
    await insertFile(db, { part_id: partId, id: `own-${i}`, capture_day: today - daysAgo });
    await insertFile(db, { part_id: 'other', id: `other-${i}`, capture_day: today - daysAgo });
  }
  const clock = clockAt(nowMs - 1);
  const step = stepOf(cloud, clock);
  clock.pass(1);
  await step(signal);
  const others = [0, 1, 2, 3, 4].map((i) => `other-${i}`);
  // Three days of cpu are left, 1.2 GB: one more is removed by size.
  expect(await filesIn(db)).toEqual(['cpu-0', 'cpu-1', ...others, 'own-0', 'own-1', 'own-2', 'own-3']);
  const removals = await db.selectFrom('binary_data_removals').select('blob_path').execute();
  expect(removals.map((row) => row.blob_path).toSorted()).toEqual([
    'blob cpu-2',
    'blob cpu-3',
    'blob cpu-4',
    'blob own-4',
  ]);
});

test('D24 files in datasets are also removed by day and by size limit, and leave their datasets', async () => {
  const cloud = await given();
  const { save, db, partId, organizationId } = cloud;
  const policy = { days: 3, binary_limit_gb: 1 };
  await save({ components: [sensor({ retention_policy: policy })] });
  const cpu = { part_id: partId, component_type: 'core:component:sensor', component_name: 'cpu' };
  const dataset = { id: 'd', organization_id: organizationId, name: 'd', type: 0, created_ms: 1 };
  await db.insertInto('datasets').values(dataset).execute();
  for (const daysAgo of [0, 1, 2, 3]) {
    const id = `cpu-${daysAgo}`;
    await insertFile(db, { ...cpu, id, capture_day: nowMs / dayMs - daysAgo, size_bytes: 0.4e9 });
    await db.insertInto('dataset_files').values({ dataset_id: 'd', binary_data_id: id }).execute();
  }
  const clock = clockAt(nowMs - 1);
  const step = stepOf(cloud, clock);
  clock.pass(1);
  await step(signal);
  const members = await db.selectFrom('dataset_files').select('binary_data_id').orderBy('binary_data_id').execute();
  expect(members.map((row) => row.binary_data_id)).toEqual(['cpu-0', 'cpu-1']);
  expect(await filesIn(db)).toEqual(['cpu-0', 'cpu-1']);
});

test('D24 from UTC midnight on, expired binary data is not found by filter, count or id, even before it is removed', async () => {
  const { save, db, partId, organizationId } = await given();
  await save({ data_retention_policy: { days: 3 }, components: [sensor({ retention_policy: { days: 2 } })] });
  const today = nowMs / dayMs;
  const cpu = { part_id: partId, component_type: 'core:component:sensor', component_name: 'cpu' };
  for (const daysAgo of [0, 1, 2, 3]) {
    await insertFile(db, { ...cpu, id: `cpu-${daysAgo}`, capture_day: today - daysAgo });
    await insertFile(db, { part_id: partId, id: `own-${daysAgo}`, capture_day: today - daysAgo });
    await insertFile(db, { part_id: 'other', id: `other-${daysAgo}`, capture_day: today - daysAgo });
  }
  const scopes = [{ organizationId, locationIds: null, robotIds: null }];
  const filter = create(FilterSchema, { partId });
  const rows = {
    requireRight: () => {},
    requireCoveredRight: () => {},
    requireComplete: async () => {},
    requireIntact: async () => {},
  };
  const foundAt = async (at: number): Promise<string[]> => {
    const page = { filter, scopes, after: undefined, order: Order.ASCENDING, limit: 50, nowMs: at };
    const ids = (await pageOfFiles({ db, rows }, page, signal)).map(({ id }) => id).toSorted();
    expect((await countFiles(db, filter, scopes, at, signal)).count).toBe(ids.length);
    return ids;
  };
  // The last millisecond of yesterday: everything is a day younger.
  expect(await foundAt(nowMs - 1)).toEqual(['cpu-0', 'cpu-1', 'cpu-2', 'own-0', 'own-1', 'own-2', 'own-3']);
  expect(await foundAt(nowMs)).toEqual(['cpu-0', 'cpu-1', 'own-0', 'own-1', 'own-2']);
  const named = (id: string) => filesNamed({ db, rows }, [{ id, organizationId: '', locationId: '' }], scopes, nowMs);
  await expect(named('cpu-2')).rejects.toMatchObject({ code: 'not_found' });
  expect(await named('cpu-1')).toHaveLength(1);
  expect(await named('other-3')).toHaveLength(1);
  await save({});
  expect(await foundAt(nowMs)).toHaveLength(8);
});

test('D24 a clock that has just jumped ahead hides data but removes none', async () => {
  const cloud = await given();
  await cloud.save({ data_retention_policy: { days: 5 } });
  await insertFile(cloud.db, { id: 'f', part_id: cloud.partId, capture_day: nowMs / dayMs });
  const clock = clockAt(nowMs);
  let removed = 0;
  const removeDeleted = async () => {
    removed++;
    return nothingRemoved;
  };
  const step = stepOf(cloud, clock, { removeDeleted });
  clock.pass(1);
  await step(signal);
  expect(removed).toBe(1);
  clock.wallMs += 3_650 * dayMs;
  await step(signal);
  clock.wallMs -= 3_650 * dayMs;
  await step(signal);
  expect(removed).toBe(1);
  expect(await filesIn(cloud.db)).toEqual(['f']);
  clock.pass(1);
  await step(signal);
  expect(removed).toBe(2);
});

test('I10 the deletion of a part covers uploads still in progress, and ends an hour later', async () => {
  const cloud = await given();
  const { save, ask, owner, machineId, partId, db } = cloud;
  await save({ services: [{ ...dataManager, attributes: { delete_data_on_part_deletion: true } }] });
  await ask(owner, app.deleteRobot, { id: machineId });
  await insertFile(db, { id: 'late', part_id: partId });
  const clock = clockAt(nowMs);
  const step = stepOf(cloud, clock);
  clock.pass(1_000);
  await step(signal);
  expect(await filesIn(db)).toEqual([]);
  const upTo = async () => (await db.selectFrom('tabular_deletes').select('up_to').executeTakeFirstOrThrow()).up_to;
  expect(await upTo()).toBe(Number.MAX_SAFE_INTEGER);
  clock.pass(3_600_000);
  await step(signal);
  expect(await upTo()).toBe(70);
});

async function filesIn(db: Database): Promise<string[]> {
  return (await db.selectFrom('binary_data').select('id').execute()).map(({ id }) => id).toSorted();
}
