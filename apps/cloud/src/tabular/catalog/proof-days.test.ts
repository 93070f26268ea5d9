import { silentLog, systemClock } from '@platform/base';
import fc from 'fast-check';
import { type KyselyPlugin, sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { migrations } from '../../metadata/migrations.ts';
import { openMetadata } from '../../metadata/open-metadata.ts';
import { openTestStore, storeKinds } from '../../metadata/testing/test-store.ts';
import { throwUncaught } from '../../metadata/testing/throw-uncaught.ts';
import { dayText } from '../../reading-codec/capture-day.ts';
import type { SealedFile } from '../process/messages.ts';
import { createCatalog } from './catalog.ts';
import { anyDay, proofDayOf, proofDaysOf } from './proof-days.ts';
import { mayHoldRows, type RowFilter } from './row-filter.ts';

const dayUs = 86_400_000_000;
const firstDay = 20_000;
const pathSets = {
  ...{ organization_id: ['org-1'], location_id: ['l'], robot_id: ['r'], part_id: ['p'] },
  ...{ component_type: ['t'], component_name: ['c'], method_name: ['m'] },
};

interface Times {
  readonly received: readonly [number | null, number | null];
  readonly requested?: readonly [number | null, number | null];
}

function fileOf(day: number, name: string, { received, requested = received }: Times): SealedFile {
  return {
    file: `${dayText(day)}-${name}.parquet`,
    ...{ organizationId: 'org-1', captureDay: dayText(day), format: 2, rows: 1, logicalBytes: 1, fileBytes: 1 },
    ...{ minPosition: 1, maxPosition: 1, minTimeReceived: received[0], maxTimeReceived: received[1] },
    ...{ minTimeRequested: requested[0], maxTimeRequested: requested[1], pathSets },
    checksum: { sha256: 'a'.repeat(64), blockCrcs: '00000000' },
  };
}

const onDay = (day: number): Times => ({ received: [day * dayUs + 1_000, (day + 1) * dayUs - 1] });
const receivedOn = (day: number): RowFilter => ({
  columns: {},
  times: { time_received: { from: BigInt(day * dayUs), to: BigInt((day + 1) * dayUs - 1) } },
});

/** Counts the rows that statements return. */
function countRows(): KyselyPlugin & { rows: number } {
  return {
    rows: 0,
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      this.rows += result.rows.length;
      return result;
    },
  };
}

describe.each(storeKinds)('proofs of the catalog by day in %s', (kind) => {
  async function openCatalog() {
    const store = await openTestStore(kind, migrations);
    const metadata = await openMetadata({
      ...{ clock: systemClock, onFatal: throwUncaught, database: store.database, migrations, log: silentLog },
      file: store.directory.file('meta.sqlite'),
    });
    return {
      db: metadata.db,
      catalog: createCatalog(metadata.db),
      async [Symbol.asyncDispose]() {
        await metadata[Symbol.asyncDispose]();
        await store[Symbol.asyncDispose]();
      },
    };
  }

  test('D33 a query of one day among 1,000 reads the rows of one day, by an index', async () => {
    await using opened = await openCatalog();
    const { db, catalog } = opened;
    const days = Array.from({ length: 1_000 }, (_, n) => firstDay + n);
    for (let at = 0; at < days.length; at += 50)
      await catalog.list(
        days.slice(at, at + 50).map((day) => fileOf(day, 'a', onDay(day))),
        at + 1,
        0,
      );
    await catalog.list([fileOf(firstDay + 3, 'wrong-clock', { received: [0, 5] })], 1_001, 0);
    const counted = countRows();
    const read = async (filter: RowFilter): Promise<string[]> => {
      const snapshot = await createCatalog(db.withPlugin(counted)).open('org-1', proofDaysOf(filter));
      expect(snapshot.allFiles).toBe(1_001);
      return snapshot.files.map(({ file }) => file);
    };
    const wrongClock = `${dayText(firstDay + 3)}-wrong-clock.parquet`;
    const oneDay = [wrongClock, `${dayText(firstDay + 500)}-a.parquet`];
    expect(await read(receivedOn(firstDay + 500))).toEqual(oneDay);
    expect(await read({ columns: { capture_day: { in: [dayText(firstDay + 500)] } }, times: {} })).toEqual(oneDay);
    // Two files, their two proofs, the sealed position, the proof of the deletions.
    expect(counted.rows).toBe(2 * 6);
    expect(await read({ columns: {}, times: {} })).toHaveLength(1_001);

    if (kind === 'postgres') await sql`analyze tabular_files`.execute(db);
    const explain = sql.raw(kind === 'sqlite' ? 'explain query plan' : 'explain');
    const plan = await sql`${explain} select path_sets from tabular_files
      where organization_id = 'org-1' and proof_day between ${dayText(firstDay)} and ${dayText(firstDay)}`.execute(db);
    expect(JSON.stringify(plan.rows)).toContain('tabular_files_by_proof_day');
  });

  test('D33 a missing or changed row is noticed by queries of its day, and others are answered', async () => {
    await using opened = await openCatalog();
    const { db, catalog } = opened;
    const late = firstDay + 2;
    await catalog.list(
      [
        ...[firstDay, firstDay + 1, late].map((day) => fileOf(day, 'a', onDay(day))),
        // Requested before midnight, received after it.
        fileOf(late, 'b', { ...onDay(late), requested: [late * dayUs - 5, late * dayUs + 5] }),
        // The clock of its machine was wrong, so its rows were filed under the day of the upload.
        fileOf(firstDay, 'wrong-clock', { received: [(firstDay + 900) * dayUs, (firstDay + 901) * dayUs] }),
      ],
      1,
      0,
    );
    const requestedOn = (day: number): RowFilter => {
      const { time_received: time } = receivedOn(day).times;
      return { columns: {}, times: { ...(time && { time_requested: time }) } };
    };
    const files = async (filter: RowFilter) =>
      (await catalog.open('org-1', proofDaysOf(filter))).files.filter((file) =>
        mayHoldRows(file, { organizationId: 'org-1', locationIds: null, robotIds: null }, filter),
      ).length;
    expect(await files(requestedOn(firstDay + 1))).toBe(2);
    expect(await files(receivedOn(firstDay + 900))).toBe(1);

    const damage = async (statement: string, refused: readonly RowFilter[], answered: readonly RowFilter[]) => {
      const undone = new Error('undone');
      const altered = db.transaction().execute(async (trx) => {
        await sql.raw(statement).execute(trx);
        const { open } = createCatalog(trx);
        for (const filter of refused)
          await expect(open('org-1', proofDaysOf(filter)), statement).rejects.toMatchObject({ code: 'data_loss' });
        for (const filter of answered) expect((await open('org-1', proofDaysOf(filter))).files).toHaveLength(2);
        throw undone;
      });
      await expect(altered).rejects.toBe(undone);
    };
    const all: RowFilter = { columns: {}, times: {} };
    const lateDays = [receivedOn(late), requestedOn(late), requestedOn(late - 1), all];
    const others = [receivedOn(firstDay), receivedOn(firstDay + 1)];
    const lateFile = `file = '${dayText(late)}-b.parquet'`;
    await damage(`delete from tabular_files where ${lateFile}`, lateDays, others);
    await damage(`update tabular_files set organization_id = 'org-2' where ${lateFile}`, lateDays, others);
    await damage(
      `update tabular_files set proof_day = '${dayText(firstDay)}' where ${lateFile}`,
      [...lateDays, receivedOn(firstDay)],
      [receivedOn(firstDay + 1)],
    );
    await damage(
      `update tabular_day_proofs set files = files + 1 where proof_day = '${dayText(late)}'`,
      lateDays.slice(0, 3),
      others,
    );
    await damage(
      "delete from tabular_files where file like '%wrong-clock%'",
      [...lateDays, ...others, receivedOn(firstDay + 900)],
      [],
    );
  });
});

test('D33 whatever the times of files and the bounds of a query, it proves every file that can hold its rows', () => {
  const day = fc.integer({ min: firstDay - 2, max: firstDay + 2 });
  const time = fc.option(
    fc.oneof(
      {
        weight: 9,
        arbitrary: fc
          .tuple(day, fc.constantFrom(-1, 0, 1, dayUs / 2, dayUs - 1))
          .map(([at, more]) => at * dayUs + more),
      },
      { weight: 1, arbitrary: fc.constantFrom(0, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER) },
    ),
    { freq: 12 },
  );
  const range = fc
    .tuple(time, time)
    .map(([a, b]) => (a !== null && b !== null && a > b ? ([b, a] as const) : ([a, b] as const)));
  const file = fc.tuple(day, range, range, fc.boolean()).map(([at, received, requested, isRegular]) => {
    const times: Times = isRegular ? onDay(at) : { received, requested };
    return [at, times.received, times.requested ?? times.received] as const;
  });
  const bound = fc.option(
    time.map((us) => BigInt(us ?? 0)),
    { nil: undefined, freq: 1 },
  );
  const text = fc.option(
    fc.oneof(
      day.map((at) => dayText(at)),
      fc.constantFrom('', 'x', '2024', '2024-10-05T', '2024-99-99'),
    ),
    { nil: undefined, freq: 1 },
  );
  const wanted = fc.record({ from: bound, to: bound }).map(({ from, to }) => ({
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  }));
  const days = fc
    .record({
      from: text,
      to: text,
      in: fc.option(fc.array(fc.oneof(day.map(dayText), fc.constant('x'))), { nil: undefined, freq: 1 }),
    })
    .map(({ from, to, in: list }) => ({
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      ...(list !== undefined && { in: list }),
    }));
  let proven = 0;
  fc.assert(
    fc.property(file, wanted, wanted, days, ([at, received, requested], byReceived, byRequested, byDay) => {
      const sealed = fileOf(at, 'a', { received, requested });
      const timesOf = ([min, max]: readonly [number | null, number | null]) => ({ min, max });
      const listed = { ...sealed, timeReceived: timesOf(received), timeRequested: timesOf(requested) };
      const filter: RowFilter = {
        columns: { capture_day: byDay },
        times: { time_received: byReceived, time_requested: byRequested },
      };
      if (!mayHoldRows(listed, { organizationId: 'org-1', locationIds: null, robotIds: null }, filter)) return;
      const set = proofDayOf({
        capture_day: sealed.captureDay,
        ...{ min_time_received: received[0], max_time_received: received[1] },
        ...{ min_time_requested: requested[0], max_time_requested: requested[1] },
      });
      const asked = proofDaysOf(filter);
      if (set !== anyDay) proven++;
      expect(asked === undefined || set === anyDay || (set >= asked.from && set <= asked.to)).toBe(true);
    }),
    { numRuns: 10_000 },
  );
  expect(proven).toBeGreaterThan(500);
});
