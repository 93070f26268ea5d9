import { expect, test } from 'vitest';
import { type OpenTabular, openTabular, testPlace } from '../testing/open-tabular.ts';

const noonMs = Date.UTC(2026, 4, 17, 12);
const sensors = ['cpu', 'arm', 'leg'];
const each = 400;

/** Few distinct numbers, sometimes none, of three sensors on two parts; `wide` is a new number each time. */
function append(store: OpenTabular, from: number): void {
  for (const [index, componentName] of sensors.entries()) {
    const partId = `part-${index % 2}`;
    const readings = Array.from({ length: each }, (_, i) => {
      const n = from + i;
      const few = n % 11 === 0 ? null : n % 13 === 0 ? 'none' : ((n * 7 + index) % 5) - 2 + index / 4;
      return { data: { wide: n / 3, ...(n % 17 !== 0 && { few }) }, receivedMs: noonMs + n };
    });
    store.append({ place: { ...testPlace, partId }, metadata: { partId, componentName }, readings });
  }
}

const ofLeaf = (name: string) => ({
  median: { $median: { input: `$data.${name}`, method: 'approximate' } },
  most: { $percentile: { input: `$data.${name}`, p: [0, 0.01, 0.3, 0.5, 0.99, 1], method: 'approximate' } },
});
const keys = [null, '$component_name', '$part_id', { part: '$part_id', name: '$component_name' }];

test('I7 percentiles of few distinct numbers are read as numbers with counts, and equal those of all rows', async () => {
  await using store = await openTabular();
  for (let file = 0; file < 3; file++) {
    append(store, file * each);
    if (file < 2) await store.tabular.seal();
  }
  for (const key of keys) {
    const stages = [{ $group: { _id: key, ...ofLeaf('few') } }, { $sort: { _id: 1 } }];
    expect([key, await store.mql(stages)]).toEqual([key, await store.mql(stages, { pushDown: false })]);
  }
  const rowsOf = async (name: string): Promise<number | undefined> => {
    const { explain } = await store.ask([{ $group: { _id: '$component_name', ...ofLeaf(name) } }], { explain: true });
    return explain?.sources.find(({ does }) => does === 'group')?.rows;
  };
  // One statement yields five numbers and "none" for each sensor; `wide` yields a list for each sensor and file.
  expect(await rowsOf('few')).toBe(3 * 6);
  expect(await rowsOf('wide')).toBeLessThanOrEqual(2 * 3);
  const filtered = [
    { $match: { 'data.few': { $gt: 0 } } },
    { $group: { _id: '$part_id', ...ofLeaf('few') } },
    { $sort: { _id: 1 } },
  ];
  expect(await store.mql(filtered)).toEqual(await store.mql(filtered, { pushDown: false }));
});
