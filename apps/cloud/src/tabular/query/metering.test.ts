import { BsonDate, BsonDocument, type BsonValue, encodeBson } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import { parseSql } from '@platform/query/sql';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { createCatalog } from '../catalog/catalog.ts';
import { openTabular, testPlace, wholeOrganization } from '../testing/open-tabular.ts';

function bson(value: unknown): BsonValue {
  if (value instanceof Date) return new BsonDate(value.getTime());
  if (typeof value !== 'object' || value === null) return value as BsonValue;
  return new BsonDocument(Object.entries(value).map(([name, each]) => [name, bson(each)]));
}

test('D26 a limit before anything that drops or combines rows is metered by the rows up to it; $sample reads all rows', async () => {
  await using store = await openTabular();
  const noonMs = Date.UTC(2026, 4, 17, 12);
  const [days, rows] = [3, 20];
  const add = (day: number): unknown =>
    store.append({
      place: testPlace,
      metadata: { componentName: 'cpu' },
      readings: Array.from({ length: rows }, (_, n) => ({
        data: { n },
        receivedMs: noonMs + day * 86_400_000 + n * 1_000,
      })),
    });
  for (let day = 0; day < days; day++) add(day);
  await store.tabular.seal();
  add(days);
  const ask = async (...stages: Record<string, unknown>[]): Promise<{ bytes: number; count: number }> => {
    const plan = parseMql(stages.map((stage) => encodeBson(bson(stage) as BsonDocument)));
    const asked = { plan, scope: wholeOrganization, vocabulary: 'core' as const };
    const [pushed, plain] = await Promise.all(
      [true, false].map((pushDown) => store.tabular.query({ ...asked, pushDown })),
    );
    expect([pushed?.scannedBytes, pushed?.count]).toEqual([plain?.scannedBytes, plain?.count]);
    return { bytes: pushed?.scannedBytes ?? NaN, count: pushed?.count ?? NaN };
  };
  const all = await ask();
  const row = all.bytes / all.count;
  expect(all.count).toBe((days + 1) * rows);
  const noon = { time_received: { $gte: new Date(noonMs) } };
  for (const [stages, scanned, count] of [
    [[{ $limit: 1 }], 1, 1],
    [[{ $skip: 3 }, { $limit: 5 }], 8, 5],
    [[{ $limit: rows + 1 }], rows + 1, rows + 1],
    [[{ $project: { n: '$data.n' } }, { $limit: 4 }, { $match: { n: -1 } }], 4, 0],
    [[{ $match: { component_name: 'cpu' } }, { $limit: 2 }], 2, 2],
    [[{ $match: noon }, { $limit: 2 }], 2, 2],
    [[{ $limit: days * rows + 7 }], days * rows + 7, days * rows + 7],
    [[{ $limit: 1_000 }], all.count, all.count],
    // These read everything.
    [[{ $sample: { size: 2 } }], all.count, 2],
    [[{ $match: { 'data.n': 3 } }, { $limit: 1 }], all.count, 1],
    [[{ $sort: { time_received: -1 } }, { $limit: 1 }], all.count, 1],
    [[{ $unwind: '$tags' }, { $limit: 1 }], all.count, 0],
    [[{ $group: { _id: '$part_id' } }, { $limit: 1 }], all.count, 1],
    [[{ $count: 'n' }], all.count, 1],
    [[{ $match: { component_name: 'arm' } }, { $limit: 1 }], 0, 0],
  ] as const) {
    const found = await ask(...stages);
    expect([Math.round(found.bytes / row), found.count], JSON.stringify(stages)).toEqual([scanned, count]);
  }
});

test("D26 filtering more of the path from the left scans fewer bytes; times and deletions count, conditions don't", async () => {
  await using store = await openTabular();
  const noonMs = Date.UTC(2026, 4, 17, 12);
  for (const hot of [false, true]) {
    for (const part of ['part-1', 'part-2'])
      for (const componentName of ['cpu', 'arm'])
        store.append({
          place: { ...testPlace, partId: part },
          metadata: { componentName },
          readings: Array.from({ length: 20 }, (_, i) => ({ data: { n: i }, receivedMs: noonMs + i * 1_000 })),
        });
    if (!hot) await store.tabular.seal();
  }
  const bytes = async (...stages: Record<string, unknown>[]): Promise<number> => {
    const plan = parseMql(stages.map((stage) => encodeBson(bson(stage) as BsonDocument)));
    const ask = { plan, scope: wholeOrganization, vocabulary: 'core' as const };
    const found = await Promise.all(
      [true, false].map(async (pushDown) => (await store.tabular.query({ ...ask, pushDown })).scannedBytes),
    );
    expect(found[0]).toBe(found[1]);
    return found[0] as number;
  };
  const all = await bytes();
  const part = await bytes({ $match: { part_id: 'part-1' } });
  const component = await bytes({ $match: { part_id: 'part-1', component_name: 'cpu' } });
  expect([part, component]).toEqual([all / 2, all / 4]);
  expect(await bytes({ $match: { 'data.n': 3 } }, { $limit: 1 })).toBe(all);
  expect(await bytes({ $sort: { time_received: -1 } }, { $group: { _id: '$part_id', v: { $first: '$data' } } })).toBe(
    all,
  );
  expect(await bytes({ $match: { time_received: { $gte: new Date(noonMs + 10_000) } } })).toBe(all / 2);
  expect(await bytes({ $match: { time_received: { $gte: new Date(noonMs + 30_000) } } })).toBe(0);
  const upTo = store.tabular.lag().committedPosition;
  await createCatalog(store.db).addDelete('org-1', { predicate: { paths: { part_id: ['part-2'] } }, upTo }, 0);
  expect(await bytes()).toBe(part);
});

test("D26 the platform's own queries are not metered", async () => {
  await using store = await openTabular();
  store.append({ readings: [{ data: { i: 1 } }] });
  await store.tabular.seal();
  store.append({ readings: [{ data: { i: 1 } }] });
  const { scannedBytes } = await store.ask([], { unmetered: true });
  expect([(await store.ask([])).scannedBytes > 0, scannedBytes]).toEqual([true, 0]);
});

test('for a query that reads no table nothing is metered', async () => {
  await using store = await openTabular();
  store.append({ readings: [{ data: { i: 1 } }] });
  await store.count();
  const { count, scannedBytes } = await store.tabular.query({
    plan: parseSql('SELECT 1 AS a'),
    scope: wholeOrganization,
    vocabulary: 'core',
  });
  expect({ count, scannedBytes }).toEqual({ count: 1, scannedBytes: 0 });
});

test('D26 each query is counted once, including those that end right before a stop', async () => {
  await using folder = await temporaryDirectory();
  {
    await using store = await openTabular({}, { folder: folder.path });
    store.append({ readings: [{ data: { i: 1 } }] });
    for (let i = 0; i < 5; i++) await store.count();
  }
  await using store = await openTabular({}, { folder: folder.path });
  const usage = await store.db.selectFrom('tabular_usage').selectAll().execute();
  const { bytes } = await store.ask([]);
  expect(usage).toMatchObject([{ organization_id: 'org-1', queries: 5, scanned_bytes: 5 * bytes.length }]);
});
