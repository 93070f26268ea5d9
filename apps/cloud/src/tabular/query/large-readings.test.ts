import { expect, test } from 'vitest';
import { openTabular, testPlace } from '../testing/open-tabular.ts';

const scopeOf = (organizationId: string) => ({ scope: { organizationId, locationIds: null, robotIds: null } });

test('D34 large readings, more than the memory allowed, are answered, sealed and merged, and do not delay others', async () => {
  const readings = 60;
  const bytes = 3_900_000;
  const text = 'x'.repeat(1_000_000);
  // DuckDB has less memory than the readings take.
  await using store = await openTabular({
    memoryBytes: 160 << 20,
    writerMemoryBytes: 160 << 20,
    sealBytes: 128_000_000,
  });
  for (let i = 0; i < readings; i++) {
    const data = { i, parts: [text, text, text, `${i}${'y'.repeat(bytes - 3_000_000)}`] };
    store.append({ place: { ...testPlace, organizationId: 'org-2' }, readings: [{ data }] });
    store.append({ readings: [{ data: { i } }] });
  }
  const check = async (): Promise<void> => {
    expect(await store.mql([{ $group: { _id: null, n: { $sum: 1 }, sum: { $sum: '$data.i' } } }])).toEqual([
      { _id: null, n: readings, sum: (readings * (readings - 1)) / 2 },
    ]);
    expect(await store.mql([{ $count: 'n' }], scopeOf('org-2'))).toEqual([{ n: readings }]);
    const newest = [{ $sort: { time_received: -1, 'data.i': -1 } }, { $limit: 1 }];
    const [row] = await store.mql(newest, scopeOf('org-2'));
    const data = row?.['data'] as { i: number; parts: string[] };
    expect([data.i, data.parts[3]?.length]).toEqual([readings - 1, bytes - 3_000_000 + String(readings - 1).length]);
    const sizes = [{ $project: { n: { $size: '$data.parts' } } }, { $match: { n: 4 } }, { $count: 'n' }];
    expect(await store.mql(sizes, scopeOf('org-2'))).toEqual([{ n: readings }]);
  };
  await check();
  await store.tabular.seal();
  await check();
  expect((await store.tabular.status()).restarts).toBe(0);
});
