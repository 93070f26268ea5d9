import { silentLog } from '@platform/base';
import { expect, test } from 'vitest';
import { ManualClock } from '../machines/testing/manual-clock.ts';
import { openMachines, type TestMachines } from '../machines/testing/open-machines.ts';
import type { Database } from '../metadata/tables.ts';
import { removeOrganizationData } from './delete-organization-data.ts';
import { createRetention } from './feature.ts';
import { createRemoveStep, type RemoveDeps } from './remove-expired.ts';
import { insertFile } from './testing/insert-file.ts';

const nowMs = Date.UTC(2026, 4, 17);
const signal = new AbortController().signal;
const gone = 'org-gone';

/** Creates every kind of data for two organizations. */
async function given(): Promise<TestMachines> {
  const machines = await openMachines();
  const { db } = machines;
  for (const organization_id of [gone, 'org-kept']) {
    const named = (kind: string): string => `${kind} ${organization_id}`;
    for (let file = 0; file < 250; file++) await insertFile(db, { id: `${named('file')} ${file}`, organization_id });
    const place = { organization_id, location_id: 'l', robot_id: 'r', part_id: named('part') };
    const times = { created_ms: 1, updated_ms: 1 };
    const sequence = { ...place, id: named('sequence'), start_us: 1, end_us: 2, resources: '[]', tags: '[]', ...times };
    await db.insertInto('sequences').values(sequence).execute();
    for (const [type, id] of [named('pictures'), named('stretches')].entries())
      await db.insertInto('datasets').values({ id, organization_id, name: id, type, created_ms: 1 }).execute();
    const pictures = { dataset_id: named('pictures'), binary_data_id: `${named('file')} 0` };
    await db.insertInto('dataset_files').values(pictures).execute();
    const stretches = { dataset_id: named('stretches'), sequence_id: named('sequence') };
    await db.insertInto('dataset_sequences').values(stretches).execute();
    await db
      .insertInto('binary_data_tags')
      .values({
        ...{ binary_data_id: `${named('file')} 1`, tag: 't' },
        ...{ file_organization_id: organization_id, file_captured_us: 1 },
      })
      .execute();
    const policies = JSON.stringify({ resources: [], recent: [], deleteOnPartDeletion: false });
    await db
      .insertInto('data_policies')
      .values({ part_id: named('part'), organization_id, policies, change: 1 })
      .execute();
    const days = { part_id: named('part'), component_type: '', component_name: '', days: 9 };
    await db.insertInto('data_retention_days').values(days).execute();
    await db.insertInto('data_policy_changes').values({ organization_id, change: 1 }).execute();
    const usage = { organization_id, month: '2026-05', scanned_bytes: 7, queries: 1 };
    await db.insertInto('tabular_usage').values(usage).execute();
  }
  return machines;
}

function stepOf(db: Database, clock: ManualClock, tabular: Partial<RemoveDeps['tabular']> = {}) {
  const retention = createRetention({ db, now: () => nowMs });
  const step = createRemoveStep({
    ...{ db, retention, clock, log: silentLog, deletions: { held: false } },
    tabular: {
      organizations: async () => [],
      removeDeleted: async () => ({ droppedFiles: 0, rewrittenFiles: 0, endedDeletions: 0, complete: true }),
      bytesByDay: async (_organization, rules) => rules.map(() => new Map()),
      lag: () => ({ committedPosition: 70, loadedPosition: 70, sealedPosition: 70, unsealedBytes: 0, isAsked: false }),
      ...tabular,
    },
    settleMs: 1,
  });
  return { step, retention };
}

const tables = ['binary_data', 'datasets', 'sequences', 'data_policies', 'data_policy_changes'] as const;

/** How many rows remain of each organization, by table. */
async function left(db: Database): Promise<Record<string, Record<string, number>>> {
  const counts: Record<string, Record<string, number>> = {};
  for (const table of tables) {
    const rows = await db
      .selectFrom(table)
      .select('organization_id')
      .where('organization_id', 'in', [gone, 'org-kept'])
      .execute();
    for (const [id, ofOne] of Map.groupBy(rows, (row) => row.organization_id))
      counts[id] = { ...counts[id], [table]: ofOne.length };
  }
  return counts;
}

const all = { binary_data: 250, datasets: 2, sequences: 1, data_policies: 1, data_policy_changes: 1 };

function clockAt(wallMs: number): ManualClock {
  const clock = new ManualClock();
  clock.wallMs = wallMs;
  return clock;
}

test("I10 a deleted organization's data is removed after the commit, including late uploads, and no data of others", async () => {
  const { db } = await given();
  const clock = clockAt(nowMs);
  const asked: string[] = [];
  const removeDeleted = async (organizationId: string) => {
    asked.push(organizationId);
    return { droppedFiles: 0, rewrittenFiles: 0, endedDeletions: 0, complete: true };
  };
  const { step, retention } = stepOf(db, clock, { removeDeleted });
  await db.transaction().execute((trx) => retention.organizationDeleting(trx, gone));
  expect(await left(db)).toEqual({ [gone]: all, 'org-kept': all });
  clock.pass(1_000);
  await step(signal);
  expect(await left(db)).toEqual({ 'org-kept': all });
  // Its readings are deleted by a rule for every later snapshot, although the organization has no files.
  expect(asked).toEqual([gone]);
  const deletions = () => db.selectFrom('tabular_deletes').select(['organization_id', 'predicate', 'up_to']).execute();
  const everything = { organization_id: gone, predicate: '{}' };
  expect(await deletions()).toEqual([{ ...everything, up_to: Number.MAX_SAFE_INTEGER }]);
  await insertFile(db, { id: 'late', organization_id: gone });
  clock.pass(3_600_000);
  await step(signal);
  expect(await left(db)).toEqual({ 'org-kept': all });
  expect(await deletions()).toEqual([{ ...everything, up_to: 70 }]);
  const removals = await db.selectFrom('binary_data_removals').select('blob_path').execute();
  expect(removals).toHaveLength(251);
  for (const table of ['dataset_files', 'dataset_sequences', 'binary_data_tags', 'data_retention_days'] as const)
    expect(await db.selectFrom(table).selectAll().execute()).toHaveLength(1);
  // Records of its metering are kept.
  expect(await db.selectFrom('tabular_usage').selectAll().execute()).toHaveLength(2);
  const audited = await db
    .selectFrom('audit_entries')
    .select(['actor_name', 'organization_id', 'detail'])
    .where('action', '=', 'platform.delete-organization-data')
    .orderBy('id')
    .execute();
  expect(audited.map((entry) => [entry.organization_id, JSON.parse(entry.detail)])).toEqual([
    [gone, { files: 250, sequences: 1, datasets: 2 }],
    [gone, { files: 1, sequences: 0, datasets: 0 }],
  ]);
});

test('a removal interrupted in the middle leaves its mark and is continued', async () => {
  const { db } = await given();
  const clock = clockAt(nowMs);
  const { step, retention } = stepOf(db, clock);
  await db.transaction().execute((trx) => retention.organizationDeleting(trx, gone));
  let rounds = 0;
  const cut = new AbortController();
  const { signal: killed } = cut;
  killed.throwIfAborted = () => {
    if (++rounds > 1) throw new Error('killed');
  };
  await expect(removeOrganizationData(db, gone, nowMs, killed)).rejects.toThrow('killed');
  expect(await left(db)).toEqual({ [gone]: { ...all, binary_data: 50 }, 'org-kept': all });
  clock.pass(7_200_000);
  await step(signal);
  expect(await left(db)).toEqual({ 'org-kept': all });
});
