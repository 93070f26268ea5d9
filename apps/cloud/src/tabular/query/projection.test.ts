import { type Batch, decodeBson } from '@platform/query';
import { parseSql } from '@platform/query/sql';
import { expect, test } from 'vitest';
import { type OpenTabular, openTabular, wholeOrganization } from '../testing/open-tabular.ts';

const noonMs = Date.UTC(2026, 4, 17, 12);

/** Expects the same answer with and without push-down; returns how it was executed. */
async function both(store: OpenTabular, stages: readonly Record<string, unknown>[]) {
  const on = await store.ask(stages, { explain: true });
  const off = await store.ask(stages, { pushDown: false });
  expect(textOf(on)).toBe(textOf(off));
  expect(on.scannedBytes).toBe(off.scannedBytes);
  const did = on.explain?.sources.map(({ does, pushed, rows }) => [does, pushed.includes('$project'), rows]);
  return { rows: on.count, did };
}

function textOf({ bytes }: Batch): string {
  return Buffer.from(bytes).toString('latin1');
}

function fill(store: OpenTabular, from: number, to: number, more: (i: number) => object = () => ({})): void {
  const readings = Array.from({ length: to - from }, (_, index) => {
    const i = from + index;
    return {
      data: { readings: { t: i / 2, s: i % 2 === 0 ? 'on' : 'off', o: { x: i, y: 'z' }, ...more(i) } },
      receivedMs: noonMs + i,
    };
  });
  store.append({ readings, syncedMs: noonMs });
}

test('a projection after exact conditions runs where the rows are read, and hot rows go through the executor', async () => {
  await using store = await openTabular({ mergeFiles: 1_000 });
  fill(store, 0, 40);
  await store.tabular.seal();
  const match = { $match: { 'data.readings.t': { $gte: 15 } } };
  const project = {
    $project: { component_name: 1, v: '$data.readings.t', 'data.readings.o': 1, time_received: 1, _id: 0 },
  };
  expect(await both(store, [match, project])).toEqual({ rows: 10, did: [['columns', true, 10]] });
  fill(store, 40, 45);
  expect(await both(store, [match, project])).toEqual({
    rows: 15,
    did: [
      ['columns', true, 10],
      ['hot', false, 5],
    ],
  });
  // The next stage gets the projected rows.
  expect(await both(store, [match, project, { $group: { _id: null, v: { $max: '$v' } } }])).toEqual({
    rows: 1,
    did: [
      ['columns', true, 10],
      ['hot', false, 5],
    ],
  });
  // A pattern is not exact: the executor filters and projects.
  const pattern = { $match: { 'data.readings.s': { $regex: '^of' } } };
  expect(await both(store, [pattern, project])).toEqual({
    rows: 22,
    did: [
      ['columns', false, 40],
      ['hot', false, 5],
    ],
  });
});

test('a file whose columns do not contain all values of a path leaves the projection to the executor', async () => {
  await using store = await openTabular({ mergeFiles: 1_000 });
  const project = { $project: { a: '$data.readings.o.x', 'data.readings.l': 1 } };
  fill(store, 0, 10);
  await store.tabular.seal();
  expect((await both(store, [project])).did).toEqual([['columns', true, 10]]);
  // A list within the path, a list at its end, and a negative zero.
  for (const more of [{ o: [{ x: 1 }] }, { l: [1] }, { o: { x: -0 } }]) {
    fill(store, 10, 20, (i) => (i === 13 ? more : {}));
    await store.tabular.seal();
  }
  const { did, rows } = await both(store, [project]);
  expect(rows).toBe(40);
  expect(did?.filter(([, isPushed]) => isPushed)).toEqual([['columns', true, 10]]);
});

test('I7 a zero is read as one from a column, also if the rows of another day, written beside it, have negative zeros', async () => {
  await using store = await openTabular({ mergeFiles: 1_000 });
  const dayMs = 86_400_000;
  fill(store, -dayMs, 10 - dayMs, () => ({ zero: -0 }));
  fill(store, 0, 10, () => ({ zero: 0 }));
  await store.tabular.seal();
  const { did } = await both(store, [{ $project: { zero: '$data.readings.zero' } }]);
  expect(did?.map(([, isPushed, rows]) => [isPushed, rows])).toEqual([
    [false, 10],
    [true, 10],
  ]);
});

test('data is returned as written if it has no columns', async () => {
  await using store = await openTabular();
  fill(store, 0, 10, (i) => (i === 3 ? { list: [1, { deep: [] }], zero: -0 } : {}));
  await store.tabular.seal();
  expect(await both(store, [{ $project: { data: 1, name: '$component_name', again: '$data' } }])).toEqual({
    rows: 10,
    did: [['rows', true, 10]],
  });
  // If it were nested one level deeper, data could exceed the depth limit.
  expect((await both(store, [{ $project: { 'o.data': '$data' } }])).did).toEqual([['rows', false, 10]]);
});

test('a row that a projection makes too large causes the same error in the same place', async () => {
  await using store = await openTabular();
  // Texts that are large on average have no column.
  const short = Array.from({ length: 300 }, (_, n) => ({ data: { s: 'a' }, receivedMs: noonMs + n }));
  store.append({ readings: [{ data: { s: 'x'.repeat(3_900_000) }, receivedMs: noonMs }, ...short], syncedMs: noonMs });
  await store.tabular.seal();
  const copies = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`c${i}`, '$data.s']));
  const project = (count: number) => [{ $match: { 'data.s': { $gt: 'w' } } }, { $project: copies(count) }];
  expect(await both(store, project(4))).toEqual({ rows: 1, did: [['columns', true, 1]] });
  const errors = await Promise.all(
    [true, false].map((pushDown) => store.ask(project(5), { pushDown }).catch((error: Error) => error.message)),
  );
  expect(errors[0]).toMatch(/^stage 1 \(\$project\): .*BSONObjectTooLarge/);
  expect(errors[1]).toBe(errors[0]);
});

test('a projection that fails during parsing also fails without rows', async () => {
  await using store = await openTabular();
  for (const pushDown of [true, false])
    await expect(store.ask([{ $project: { a: { $divide: [1, 0] } } }], { pushDown })).rejects.toThrow(/divide/);
});

test('the list of SELECT is pushed down and explained as such', async () => {
  await using store = await openTabular();
  fill(store, 0, 10);
  await store.tabular.seal();
  const plan = parseSql(
    "SELECT component_name AS c, {'t': data.readings.t, 'o': data.readings.o} AS v FROM readings WHERE data.readings.t >= 4.5",
  );
  const answer = await store.tabular.query({ plan, scope: wholeOrganization, vocabulary: 'core', explain: true });
  expect(answer.explain?.sources).toMatchObject([
    { does: 'columns', pushed: ['line 1, column 115', '$project'], rows: 1 },
  ]);
  const row = decodeBson(answer.bytes);
  expect([...row.keys()]).toEqual(['c', 'v']);
});
