import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createCatalog } from '../catalog/catalog.ts';
import { fillDays, formatsOf, inFolder, makeFilesOlder, newestDay } from '../testing/older-files.ts';
import { type OpenTabular, openTabular } from '../testing/open-tabular.ts';

/** Everything that a query can see, and the catalog's counts. */
async function everything(store: OpenTabular): Promise<unknown> {
  const rows = await store.mql([
    { $sort: { component_name: 1, 'data.day': 1, 'data.i': 1, time_synced: 1 } },
    { $limit: 100_000 },
  ]);
  const groups = await store.mql([
    { $group: { _id: '$data.text', n: { $sum: 1 }, sum: { $sum: '$data.i' } } },
    { $sort: { _id: 1 } },
  ]);
  // A whole document: its fields are compared in order.
  const input = { a: true, b: 1 };
  const ofInput = await store.mql([{ $match: { 'additional_parameters.input': input } }, { $count: 'n' }]);
  const { fileRows } = await store.tabular.status();
  const sizes = await store.db
    .selectFrom('tabular_files')
    .select(({ fn }) => [fn.sum<number>('logical_bytes').as('bytes'), fn.sum<number>('rows').as('rows')])
    .executeTakeFirstOrThrow();
  expect(ofInput).toEqual([{ n: 80 }]);
  return { rows, groups, fileRows, sizes };
}

test('I9 files sealed by an earlier version are rewritten after the start with the same rows, and the old files are removed', async () => {
  await inFolder(async (folder) => {
    const before = await (async () => {
      await using store = await openTabular({}, { folder });
      await fillDays(store, 3, 40);
      const found = await everything(store);
      expect(await makeFilesOlder(store)).toHaveLength(3);
      return found;
    })();
    await using store = await openTabular({}, { folder });
    // Queried at once: the query waits for the files.
    expect(await everything(store)).toEqual(before);
    expect(await formatsOf(store)).toEqual([2]);
    const listed = [...(await createCatalog(store.db).fileNames())].toSorted();
    await expect
      .poll(async () => (await readdir(join(folder, 'parquet'))).filter((name) => name.endsWith('.parquet')).toSorted())
      .toEqual(listed);
    expect(store.lines.filter(({ level }) => level === 'error')).toEqual([]);
    const told = store.lines.filter(({ message }) => message.includes('earlier version'));
    expect(told.map(({ fields }) => fields)).toEqual([{ files: 3 }, { files: 3 }]);
    // Rows that arrive now are handled as usual.
    store.append({ readings: [{ data: { i: 1 } }] });
    expect(await store.count()).toBe(241);
  });
});

test('an unreadable older file fails only the queries that need it, with an error that says so', async () => {
  await inFolder(async (folder) => {
    const names = await (async () => {
      await using store = await openTabular({}, { folder });
      await fillDays(store, 2, 10);
      return await makeFilesOlder(store);
    })();
    const broken = names.toSorted()[0] ?? '';
    await writeFile(join(folder, 'parquet', broken), 'not a file of ours');
    await using store = await openTabular({}, { folder });
    expect(await store.mql([{ $match: { capture_day: newestDay } }, { $count: 'n' }])).toEqual([{ n: 20 }]);
    // Until it is found to be damaged, the file is considered not yet rewritten.
    const failed = () => store.count().then(String, ({ code, message }) => `${code}: ${message}`);
    await expect.poll(failed).toMatch(new RegExp(`^data_loss: .*${broken}`));
    expect(await formatsOf(store)).toHaveLength(2);
  });
});
