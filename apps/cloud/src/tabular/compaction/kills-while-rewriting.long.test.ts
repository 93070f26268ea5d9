import { expect, test } from 'vitest';
import { createCatalog } from '../catalog/catalog.ts';
import { fillDays, inFolder } from '../testing/fill-days.ts';
import { type OpenTabular, openTabular } from '../testing/open-tabular.ts';

test('I9 I10 I14 kills while files are merged and cleaned of deleted rows lose, duplicate and restore no row', async () => {
  await inFolder(async (folder) => {
    const days = 8;
    await (async () => {
      await using store = await openTabular({}, { folder });
      // Three files a day, which are worth merging.
      for (const first of [0, 100, 200]) await fillDays(store, days, 100, first);
      const predicate = { paths: { component_name: ['disk'], part_id: ['part-0'] } };
      await createCatalog(store.db).addDelete('org-1', { predicate, upTo: 1_000 }, Date.now());
    })();
    const expected = { rows: (days * 300 * 3) / 2, values: 300 };
    const check = async (store: OpenTabular): Promise<void> => {
      const stages = [
        { $group: { _id: { c: '$component_name', d: '$data.day', i: '$data.i' }, n: { $sum: 1 } } },
        { $group: { _id: null, rows: { $sum: '$n' }, most: { $max: '$n' }, values: { $addToSet: '$_id.i' } } },
        { $project: { _id: 0, rows: 1, most: 1, values: { $size: '$values' } } },
      ];
      expect(await store.mql(stages)).toEqual([{ ...expected, most: 1 }]);
    };
    for (let round = 0; round < 5; round++) {
      await using store = await openTabular({ mergeFiles: 3 }, { folder });
      const signal = new AbortController().signal;
      const removing = store.tabular.removeDeleted('org-1', signal).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 150 + round * 70));
      if (round % 2 === 0) store.tabular.killProcess();
      else await check(store);
      // Every other round leaves the removal unfinished, as a killed cloud does.
      if (round % 2 === 0) continue;
      await removing;
    }
    await using store = await openTabular({}, { folder });
    await check(store);
    const signal = new AbortController().signal;
    await expect.poll(async () => (await store.tabular.removeDeleted('org-1', signal)).complete).toBe(true);
    await store.tabular.removeDeleted('org-1', signal);
    await check(store);
    expect((await store.tabular.status()).fileRows).toBe(expected.rows);
  });
});
