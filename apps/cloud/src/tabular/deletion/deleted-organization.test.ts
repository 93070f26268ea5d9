import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createCatalog } from '../catalog/catalog.ts';
import { setDeleteUpTo } from '../catalog/catalog-rows.ts';
import { openTabular, testPlace } from '../testing/open-tabular.ts';

test('I10 deleting all data of an organization removes its files, even those sealed later, then ends; others keep theirs', async () => {
  await using store = await openTabular();
  const { signal } = new AbortController();
  const catalog = createCatalog(store.db);
  const dayMs = 86_400_000;
  const noonMs = Date.UTC(2026, 4, 17, 12);
  const append = (organizationId: string): void => {
    for (const day of [0, 1])
      store.append({
        place: { ...testPlace, organizationId },
        readings: [{ data: { day }, receivedMs: noonMs - day * dayMs }],
        syncedMs: noonMs,
      });
  };
  const names = async () =>
    (await readdir(join(store.dataDir, 'parquet'))).filter((name) => name.endsWith('.parquet')).length;
  append('org-1');
  append('org-2');
  await store.tabular.seal();
  await catalog.addDelete('org-1', { predicate: {}, upTo: Number.MAX_SAFE_INTEGER }, 1);
  append('org-1');
  expect(await store.count()).toBe(0);
  expect(await store.tabular.removeDeleted('org-1', signal)).toMatchObject({ droppedFiles: 2, rewrittenFiles: 0 });
  await store.tabular.seal();
  expect(await store.tabular.removeDeleted('org-1', signal)).toMatchObject({ droppedFiles: 2, endedDeletions: 0 });
  await expect.poll(names).toBe(2);
  await store.db.transaction().execute((trx) => setDeleteUpTo(trx, 1, store.tabular.sealedPosition()));
  expect(await store.tabular.removeDeleted('org-1', signal)).toMatchObject({ droppedFiles: 0, endedDeletions: 1 });
  const scope = { organizationId: 'org-2', locationIds: null, robotIds: null };
  expect(await store.mql([{ $count: 'n' }], { scope })).toEqual([{ n: 2 }]);
});
