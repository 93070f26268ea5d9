import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type OpenTabular, openTabular, testPlace } from './testing/open-tabular.ts';

const noonMs = Date.UTC(2026, 4, 17, 12);
const dayMs = 86_400_000;

/** Values of every kind, alone, mixed and missing, so that hot files store leaves in different ways. */
function readingOf(i: number): Record<string, unknown> {
  const values = [i, `text ${i % 5}`, i % 2 === 0, null, { deep: i }, [i], -0];
  return {
    i,
    value: values[(i * 7) % values.length],
    ...(i % 3 === 0 && { often: i / 8 }),
    ...(i % 4 === 0 && { nothing: null }),
    object: { first: i % 10, ...(i % 5 === 0 && { second: 'é' }) },
    ...(i > 150 && { late: `since 150: ${'x'.repeat(i % 30)}` }),
  };
}

const organizations = ['org-1', 'org-2', 'org-3', 'org-4'];
const days = 3;

/** Appends uploads of several organizations and days; `ledger` records the expected rows of each, by `i`. */
function append(store: OpenTabular, from: number, to: number, ledger: Map<string, number[]>): void {
  for (let i = from; i < to; i++) {
    const organizationId = organizations[i % organizations.length] as string;
    store.append({
      place: { ...testPlace, organizationId },
      metadata: { componentName: `c${i % 3}`, tags: i % 2 === 0 ? ['even'] : [] },
      readings: [{ data: readingOf(i) as never, receivedMs: noonMs + (i % days) * dayMs + ((i * 37) % 100) }],
      syncedMs: noonMs + days * dayMs,
    });
    ledger.set(organizationId, [...(ledger.get(organizationId) ?? []), i]);
  }
}

async function expectAll(store: OpenTabular, ledger: ReadonlyMap<string, readonly number[]>): Promise<void> {
  for (const [organizationId, expected] of ledger) {
    const scope = { organizationId, locationIds: null, robotIds: null };
    const everything = [
      { $sort: { 'data.i': 1 } },
      { $project: { data: 1, component_name: 1, tags: 1, capture_day: 1 } },
    ];
    const rows = await store.mql(everything, { scope });
    expect(rows.map(({ data }) => (data as { i: number }).i)).toEqual(expected);
    for (const [at, row] of rows.entries()) {
      const i = expected[at] as number;
      expect(row['data']).toEqual(readingOf(i));
      expect(row['component_name']).toBe(`c${i % 3}`);
      expect(row['tags']).toEqual(i % 2 === 0 ? ['even'] : []);
      expect(row['capture_day']).toBe(new Date(noonMs + (i % days) * dayMs).toISOString().slice(0, 10));
    }
    for (const stages of [
      [{ $group: { _id: '$data.value', n: { $sum: 1 }, sum: { $sum: '$data.often' }, max: { $max: '$data.late' } } }],
      [{ $match: { 'data.object.second': 'é', 'data.nothing': null } }, { $count: 'n' }],
      [{ $sort: { time_received: -1 } }, { $group: { _id: '$component_name', last: { $first: '$data.object' } } }],
      [
        { $match: { 'data.often': { $gt: 5 } } },
        { $project: { i: '$data.i', late: '$data.late' } },
        { $sort: { i: 1 } },
      ],
    ])
      expect(await store.mql(stages, { scope })).toEqual(await store.mql(stages, { scope, pushDown: false }));
  }
}

function hotFilesOf({ dataDir }: OpenTabular): string[] {
  const names = readdirSync(join(dataDir, 'parquet', '.hot'));
  return names.filter((name) => name.endsWith('.parquet')).toSorted();
}

test('I8 I9 rows of several organizations and days are the same in memory, in hot files, in merged hot files and sealed', async () => {
  await using store = await openTabular({ tailRows: 0, mergeFiles: 3 });
  const ledger = new Map<string, number[]>();
  for (let round = 0; round < 7; round++) {
    append(store, round * 40, (round + 1) * 40, ledger);
    // Each reads rows, so that they are written to a file.
    await (round % 3 === 0 ? expectAll(store, ledger) : store.mql([{ $limit: 1 }]));
  }
  await expect.poll(() => hotFilesOf(store).length).toBeLessThan(7);
  await expectAll(store, ledger);
  expect((await store.tabular.status()).files).toBe(0);
  await store.tabular.seal();
  await expectAll(store, ledger);
  expect((await store.tabular.status()).files).toBeGreaterThanOrEqual(organizations.length * days);
  await expect.poll(() => hotFilesOf(store)).toEqual([]);
});

test('I8 I14 hot files survive the death of the process, and the next one reads only the rest from the log', async () => {
  await using store = await openTabular({ tailRows: 0 });
  const ledger = new Map<string, number[]>();
  append(store, 0, 50, ledger);
  await expectAll(store, ledger);
  const before = hotFilesOf(store);
  expect(before.length).toBeGreaterThan(0);
  append(store, 50, 90, ledger);
  store.tabular.killProcess();
  await expectAll(store, ledger);
  expect(hotFilesOf(store)).toEqual(expect.arrayContaining(before));
});

test('I8 a changed or removed hot file is rejected by a running process and by the next one', async () => {
  await using store = await openTabular({ tailRows: 0 });
  const ledger = new Map<string, number[]>();
  append(store, 0, 50, ledger);
  await expectAll(store, ledger);
  const damage = (): void => {
    const [name] = hotFilesOf(store);
    const path = join(store.dataDir, 'parquet', '.hot', name as string);
    const bytes = readFileSync(path);
    bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] as number) ^ 0xff;
    writeFileSync(path, bytes);
  };
  damage();
  await expectAll(store, ledger);
  expect((await store.tabular.status()).restarts).toBeGreaterThan(0);
  damage();
  store.tabular.killProcess();
  await expectAll(store, ledger);
});

test('D33 hot files do not hide later changes to the log', async () => {
  await using store = await openTabular({ tailRows: 0 });
  const ledger = new Map<string, number[]>();
  append(store, 0, 20, ledger);
  await expectAll(store, ledger);
  store.replaceLast({ readings: [{ data: { i: 1_000 } }], place: { ...testPlace, organizationId: 'org-4' } });
  store.tabular.killProcess();
  await expect.poll(async () => (await store.tabular.status()).restarts).toBe(1);
  const scope = { organizationId: 'org-4', locationIds: null, robotIds: null };
  expect((await store.mql([{ $match: { 'data.i': 1_000 } }], { scope })).length).toBe(1);
  expect((await store.mql([{ $match: { 'data.i': 19 } }], { scope })).length).toBe(0);
});

test('I8 a query that arrives before hot files are taken over reads their rows, even if the log contains nothing more', async () => {
  await using store = await openTabular({ tailRows: 0 });
  const ledger = new Map<string, number[]>();
  append(store, 0, 40, ledger);
  const counted = await store.count();
  // Reads rows, so that they are written to a file.
  await store.mql([{ $limit: 1 }]);
  await expect.poll(() => hotFilesOf(store).length).toBeGreaterThan(0);
  for (let kill = 0; kill < 3; kill++) {
    store.tabular.killProcess();
    expect((await store.mql([{ $count: 'n' }], { deadlineMs: 30_000 }))[0]?.['n']).toBe(counted);
  }
});

test('I8 D34 an organization with much data has its own hot files, read by one statement, even when others write too', async () => {
  await using store = await openTabular({ tailRows: 0, mergeFiles: 4 });
  const rounds = 11;
  const scopeOf = (organizationId: string) => ({ organizationId, locationIds: null, robotIds: null });
  const ask = (organizationId: string, stages: readonly object[]) =>
    store.mql(stages as never, { scope: scopeOf(organizationId) });
  const text = 'x'.repeat(300_000);
  for (let round = 0; round < rounds; round++) {
    const append = (organizationId: string, componentName: string, data: object): number =>
      store.append({
        place: { ...testPlace, organizationId },
        metadata: { componentName },
        readings: [{ data: data as never, receivedMs: noonMs + round }],
        syncedMs: noonMs,
      });
    for (let i = 0; i < 4; i++) append('org-2', 'large', { n: round * 4 + i, text });
    // Organizations before and after it in file order, in varying combinations.
    append('org-1', `c${round % 3}`, { n: round });
    if (round % 2 === 0) append('org-0', 'first', { n: round });
    if (round % 4 === 1) append('org-3', 'last', { n: round });
    // A query that reads rows writes the rows in memory to a file.
    await store.mql([{ $limit: 1 }]);
  }
  const expectRows = async (): Promise<void> => {
    const sums: Record<string, number[]> = {};
    for (const organizationId of ['org-0', 'org-1', 'org-2', 'org-3']) {
      const rows = await ask(organizationId, [{ $sort: { 'data.n': 1 } }, { $project: { n: '$data.n' } }]);
      sums[organizationId] = rows.map(({ n }) => n as number);
    }
    const all = Array.from({ length: rounds }, (_, round) => round);
    expect(sums).toEqual({
      'org-0': all.filter((round) => round % 2 === 0),
      'org-1': all,
      'org-2': Array.from({ length: rounds * 4 }, (_, n) => n),
      'org-3': all.filter((round) => round % 4 === 1),
    });
  };
  await expectRows();
  const filter = [{ $match: { component_name: 'large', 'data.n': { $gte: 3 } } }, { $project: { n: '$data.n' } }];
  const { explain } = await store.ask(filter as never, { scope: scopeOf('org-2'), explain: true });
  const sources = explain?.sources ?? [];
  expect(sources.map(({ statements }) => statements)).toEqual([1]);
  expect(sources[0]?.files).toBeGreaterThan(1);
  // Each batch has two files: one for this organization, and one for all others.
  const endsOf = (): string[] => hotFilesOf(store).map((name) => name.slice(-'0.parquet'.length));
  await expect.poll(() => endsOf().filter((end) => end === '1.parquet').length).toBe(endsOf().length / 2);
  store.tabular.killProcess();
  await expectRows();
  // All rows of the log were taken over: no load follows, and sealing need not wait for one.
  await store.tabular.seal();
  await expectRows();
});

test('I8 uploads that are loaded in turns keep their place between small ones, and queries see each of them whole', async () => {
  await using store = await openTabular();
  const text = 'x'.repeat(100);
  const expected: string[] = [];
  const append = (count: number): void => {
    const upload = expected.length;
    store.append({
      readings: Array.from({ length: count }, (_, index) => ({ data: { upload, index, text } as never })),
    });
    expected.push(`${upload}: ${count}`);
  };
  // 1 MiB is loaded at once; the third is longer than what one tail holds.
  for (const count of [3, 20_000, 60_000, 2, 9_000, 9_000, 1]) append(count);
  const counts = [{ $group: { _id: '$data.upload', n: { $sum: 1 } } }, { $sort: { _id: 1 } }];
  const rows = await store.mql(counts);
  expect(rows.map(({ _id, n }) => `${_id}: ${n}`)).toEqual(expected);
  expect(await store.mql(counts, { pushDown: false })).toEqual(rows);
});
