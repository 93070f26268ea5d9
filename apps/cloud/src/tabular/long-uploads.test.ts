import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openTabular } from './testing/open-tabular.ts';

const noonMs = Date.UTC(2026, 4, 17, 12);

test('D48 I8 an upload with more rows than a tail holds is written to several files while it is decoded, and seen only as a whole', async () => {
  await using store = await openTabular();
  const counts = [
    { $group: { _id: '$component_name', n: { $sum: 1 }, last: { $max: '$data.i' } } },
    { $sort: { _id: 1 } },
  ];
  const append = (componentName: string, count: number): void => {
    const readings = Array.from({ length: count }, (_, i) => ({ data: { i }, receivedMs: noonMs - i }));
    store.append({ metadata: { componentName }, readings });
  };
  append('a', 1);
  append('b', 70_000);
  append('c', 1);
  const expected = [
    { _id: 'a', n: 1, last: 0 },
    { _id: 'b', n: 70_000, last: 69_999 },
    { _id: 'c', n: 1, last: 0 },
  ];
  expect(await store.mql(counts)).toEqual(expected);
  // The first row, and the others in three pieces; the last row is in the tail.
  const names = readdirSync(join(store.dataDir, 'parquet', '.hot'));
  expect(names.filter((name) => name.endsWith('.parquet'))).toHaveLength(1 + 3);
  await store.tabular.seal();
  expect(await store.mql(counts)).toEqual(expected);
});

test('D48 I8 a long upload that cannot be written to files stays in memory', async () => {
  await using store = await openTabular();
  writeFileSync(join(store.dataDir, 'parquet', '.hot'), 'not a folder');
  store.append({ readings: Array.from({ length: 70_000 }, (_, i) => ({ data: { i } })) });
  expect(await store.mql([{ $count: 'n' }])).toEqual([{ n: 70_000 }]);
  expect(store.lines.map(({ message }) => message)).toContain(
    'hot rows could not be written to a file; they stay in memory',
  );
});
