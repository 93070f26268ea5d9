import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenTabular, openTabular, testPlace } from '../testing/open-tabular.ts';
import { repairCatalog } from './repair-catalog.ts';

const noonMs = Date.UTC(2026, 4, 17, 12);
const dayMs = 86_400_000;

/** Two days of one organization, one of another, and a deletion that covers nothing. */
async function fill(store: OpenTabular): Promise<void> {
  for (let day = 0; day < 2; day++)
    store.append({ readings: [{ data: { day }, receivedMs: noonMs + day * dayMs }], syncedMs: noonMs + 2 * dayMs });
  store.append({ place: { ...testPlace, organizationId: 'org-2' }, readings: [{ data: { other: 1 } }] });
  await store.tabular.seal();
  await store.tabular.deleteRows({
    organizationId: 'org-1',
    predicate: { paths: { component_name: ['cpu'] }, beforeDay: '2026-05-17' },
    dryRun: false,
    record: async () => {},
  });
}

const ofOther = { scope: { organizationId: 'org-2', locationIds: null, robotIds: null } };

/** SQL that replaces the first digit of `column` by a different one. */
function otherFirstDigit(column: string): string {
  return `(case when substr(${column}, 1, 1) = '1' then '2' else '1' end) || substr(${column}, 2)`;
}

/** Changes that a person could make by hand, or a faulty disk could cause. */
const damages: readonly (readonly [string, string])[] = [
  ['logical bytes', "update tabular_files set logical_bytes = logical_bytes + 1 where capture_day = '2026-05-17'"],
  [
    'a day',
    "update tabular_files set capture_day = '2026-05-16' where capture_day = '2026-05-17' and organization_id = 'org-1'",
  ],
  ['a time', 'update tabular_files set min_time_received = min_time_received + 1000'],
  ['path sets', "update tabular_files set path_sets = replace(path_sets, 'cpu', 'cpv')"],
  ['a checksum of a file', `update tabular_files set sha256 = ${otherFirstDigit('sha256')}`],
  ['a checksum of a row', `update tabular_files set row_check = ${otherFirstDigit('row_check')}`],
  ['when it was written', 'update tabular_files set created_ms = created_ms + 1'],
  ['an organization', "update tabular_files set organization_id = 'org-3' where capture_day = '2026-05-17'"],
  ['a removed row', "delete from tabular_files where capture_day = '2026-05-17'"],
  ['exchanged names', "update tabular_files set file = capture_day || 'x' || organization_id"],
  ['a proof', 'update tabular_proofs set files = files + 1'],
  ['a removed proof', 'delete from tabular_proofs'],
  ['a sum', `update tabular_proofs set files_sum = ${otherFirstDigit('files_sum')}`],
  ['the sealed position', 'update tabular_state set sealed_position = sealed_position - 1'],
  ['no sealed position', 'delete from tabular_state'],
];

/** Each damage is repaired, so that one store serves them all. */
let repaired: OpenTabular;
beforeAll(async () => {
  repaired = await openTabular();
  await fill(repaired);
});
afterAll(() => repaired?.[Symbol.asyncDispose]());

test.each(damages)(
  'D33 a catalog with another value (%s) causes a clear error for every query, and is repaired from its copies',
  async (_, statement) => {
    const store = repaired;
    const right = await store.mql([{ $sort: { capture_day: 1 } }]);
    expect(right).toHaveLength(2);
    await sql.raw(statement).execute(store.db);
    await expect(store.mql([])).rejects.toMatchObject({
      code: 'data_loss',
      message: expect.stringMatching(/^the catalog of sealed readings is damaged \(/),
    });
    const { mended } = await repairCatalog(store.db, false);
    expect(mended).not.toEqual([]);
    await expect(store.mql([])).rejects.toMatchObject({ code: 'data_loss' });
    expect(await repairCatalog(store.db, true)).toEqual({ mended, left: [] });
    expect(await store.mql([{ $sort: { capture_day: 1 } }])).toEqual(right);
    expect(await store.mql([], ofOther)).toHaveLength(1);
    expect(await repairCatalog(store.db, true)).toEqual({ mended: [], left: [] });
  },
);

test('D33 a changed or removed deletion does not bring rows back', async () => {
  await using store = await openTabular();
  await fill(store);
  await store.tabular.deleteRows({
    organizationId: 'org-1',
    predicate: { paths: { component_name: ['cpu'] }, beforeDay: '2026-05-18' },
    dryRun: false,
    record: async () => {},
  });
  expect(await store.count()).toBe(1);
  for (const statement of ['update tabular_deletes set up_to = up_to - 3', 'delete from tabular_deletes']) {
    await sql.raw(statement).execute(store.db);
    await expect(store.count()).rejects.toMatchObject({ code: 'data_loss' });
    expect((await repairCatalog(store.db, true)).left).toEqual([]);
    expect(await store.count()).toBe(1);
  }
});

test('D33 no file is removed while the catalog is damaged, and other organizations are answered', async () => {
  await using store = await openTabular();
  await fill(store);
  const list = async () =>
    (await readdir(join(store.dataDir, 'parquet'))).filter((name) => name.endsWith('.parquet')).toSorted();
  const files = await list();
  await sql.raw("delete from tabular_files where organization_id = 'org-1'").execute(store.db);
  store.tabular.killProcess();
  await expect.poll(async () => (await store.tabular.status()).restarts).toBe(1);
  expect(await store.mql([], ofOther)).toHaveLength(1);
  expect(await list()).toEqual(files);
  expect((await store.tabular.damage()).catalog).toMatchObject([
    { organizationId: 'org-1', text: 'expected 1 rows of files of 2026-05-17, found 0' },
    { organizationId: 'org-1', text: 'expected 1 rows of files of 2026-05-18, found 0' },
  ]);
});
