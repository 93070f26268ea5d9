import { parseSql } from '@platform/query/sql';
import { expect, test } from 'vitest';
import { type OpenTabular, openTabular, testPlace, wholeOrganization } from '../testing/open-tabular.ts';

const noonMs = Date.UTC(2026, 4, 17, 12);
const averages = [{ $group: { _id: '$part_id', mean: { $avg: '$data.n' }, n: { $sum: 1 } } }, { $sort: { _id: 1 } }];

/** Seals a file with 200 readings of two parts. */
async function addFile(store: OpenTabular, number: number): Promise<void> {
  for (const partId of ['part-1', 'part-2'])
    store.append({
      place: { ...testPlace, partId, robotId: `robot of ${partId}` },
      metadata: { partId },
      readings: Array.from({ length: 100 }, (_, n) => ({
        data: { n: n * number },
        receivedMs: noonMs + number * 60_000 + n,
      })),
    });
  await store.tabular.seal();
}

type Stages = Parameters<OpenTabular['ask']>[0];
type Asked = Parameters<OpenTabular['ask']>[1];

/** How the files are read, with the number of files. */
async function sourcesOf(store: OpenTabular, stages: Stages, request: Asked = {}): Promise<unknown[]> {
  const { explain } = await store.ask(stages, { ...request, explain: true });
  return explain?.sources.map(({ does, files }) => [does, files]) ?? [];
}

async function expectRight(store: OpenTabular, stages: Stages, request: Asked = {}): Promise<void> {
  expect(await store.mql(stages, request)).toEqual(await store.mql(stages, { ...request, pushDown: false }));
}

test('I7 the groups of a file are kept when a query is repeated, and only new files are then grouped', async () => {
  await using store = await openTabular();
  await addFile(store, 1);
  await addFile(store, 2);
  expect(await sourcesOf(store, averages)).toEqual([['group', 2]]);
  expect(await sourcesOf(store, averages)).toEqual([
    ['group', 1],
    ['group', 1],
  ]);
  expect(await sourcesOf(store, averages)).toEqual([['known', 2]]);
  await expectRight(store, averages);
  await addFile(store, 3);
  expect(await sourcesOf(store, averages)).toEqual([
    ['known', 2],
    ['group', 1],
  ]);
  expect(await sourcesOf(store, averages)).toEqual([['known', 3]]);
  await expectRight(store, averages);
});

test('I7 I10 kept groups are not used for other conditions, deletions, scopes or vocabularies', async () => {
  await using store = await openTabular();
  await addFile(store, 1);
  await addFile(store, 2);
  for (let time = 0; time < 3; time++) await store.ask(averages);
  const above = [{ $match: { 'data.n': { $gt: 50 } } }, ...averages];
  expect(await sourcesOf(store, above)).toEqual([['group', 2]]);
  await expectRight(store, above);
  const scope = { organizationId: 'org-1', locationIds: [], robotIds: ['robot of part-1'] };
  for (let time = 0; time < 3; time++) {
    await expectRight(store, averages, { scope });
    expect((await store.mql(averages, { scope })).map(({ _id }) => _id)).toEqual(['part-1']);
  }
  const byType = [{ $group: { _id: '$component_type', mean: { $avg: '$data.n' } } }];
  for (let time = 0; time < 3; time++)
    for (const vocabulary of ['core', 'rdk'] as const) await expectRight(store, byType, { vocabulary });
  await store.tabular.deleteRows({
    organizationId: 'org-1',
    predicate: { paths: { part_id: ['part-1'] } },
    dryRun: false,
    record: async () => {},
  });
  await expectRight(store, averages);
});

test('groups are not kept if there are too many for their rows', async () => {
  await using store = await openTabular();
  await addFile(store, 1);
  const byValue = [{ $group: { _id: '$data.n', n: { $sum: 1 } } }, { $sort: { _id: 1 } }];
  for (let time = 0; time < 4; time++) expect(await sourcesOf(store, byValue)).toEqual([['group', 1]]);
});

test('sets of series names are kept at their real size, even below the document keys of SQL', async () => {
  const parts = 300;
  // As much as the two queries need, and far less than a group for each series would need.
  await using store = await openTabular({ groupCacheBytes: 128 << 10, rowsPerKeptGroup: 1 });
  for (let part = 0; part < parts; part++)
    store.append({
      place: { ...testPlace, partId: `part-${part}` },
      metadata: { partId: `part-${part}` },
      readings: ['on', 'off'].map((state) => ({ data: { state }, receivedMs: noonMs + part })),
    });
  await store.tabular.seal();
  const mql = [
    { $group: { _id: '$data.state', parts: { $addToSet: '$part_id' } } },
    { $project: { n: { $size: '$parts' } } },
    { $sort: { _id: 1 } },
  ];
  const plan = parseSql('SELECT data.state AS s, COUNT(DISTINCT part_id) AS n FROM readings GROUP BY data.state');
  const sql = (): ReturnType<OpenTabular['tabular']['query']> =>
    store.tabular.query({ plan, scope: wholeOrganization, vocabulary: 'core', explain: true });
  for (let time = 0; time < 2; time++) await Promise.all([store.ask(mql), sql()]);
  expect(await sourcesOf(store, mql)).toEqual([['known', 1]]);
  expect((await sql()).explain?.sources.map(({ does }) => does)).toEqual(['known']);
  expect(await store.mql(mql)).toEqual([
    { _id: 'off', n: parts },
    { _id: 'on', n: parts },
  ]);
  await expectRight(store, mql);
});

test('I7 groups that files share are merged when the same files are queried again', async () => {
  await using store = await openTabular();
  await addFile(store, 1);
  await addFile(store, 2);
  const groups = async (): Promise<unknown> => {
    const { explain } = await store.ask(averages, { explain: true });
    return explain?.sources.map(({ does, rows }) => [does, rows]);
  };
  for (let time = 0; time < 2; time++) await store.ask(averages);
  const asked = [await groups(), await groups(), await groups()];
  expect(asked).toEqual([[['known', 4]], [['known', 2]], [['known', 2]]]);
  await expectRight(store, averages);
  // Building texts takes a separate thread, to which the bytes of a batch are moved.
  const named = [...averages, { $addFields: { name: { $concat: ['$_id', '!'] } } }];
  for (let time = 0; time < 3; time++) await expectRight(store, named);
  await addFile(store, 3);
  await store.ask(averages);
  for (let time = 0; time < 3; time++) await expectRight(store, averages);
  expect(await groups()).toEqual([['known', 2]]);
  await store.tabular.deleteRows({
    organizationId: 'org-1',
    predicate: { paths: { part_id: ['part-2'] } },
    dryRun: false,
    record: async () => {},
  });
  for (let time = 0; time < 5; time++) await expectRight(store, averages);
});
