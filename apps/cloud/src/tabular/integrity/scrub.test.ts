import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { forgetChecks } from '../testing/forget-checks.ts';
import { inFolder } from '../testing/older-files.ts';
import { type OpenTabular, openTabular } from '../testing/open-tabular.ts';

const noonMs = Date.UTC(2026, 4, 17, 12);
const dayMs = 86_400_000;

async function fill(store: OpenTabular): Promise<string> {
  for (let day = 0; day < 3; day++)
    store.append({ readings: [{ data: { day }, receivedMs: noonMs + day * dayMs }], syncedMs: noonMs + 3 * dayMs });
  await store.tabular.seal();
  const names = (await readdir(join(store.dataDir, 'parquet'))).filter((name) => name.endsWith('.parquet'));
  return names.toSorted()[1] ?? '';
}

test('D33 files are read completely in the background: damage is found before queries need them, and intact files are noted', async () => {
  await inFolder(async (folder) => {
    const file = await (async () => {
      await using store = await openTabular({}, { folder });
      return await fill(store);
    })();
    {
      await using bytes = await open(join(folder, 'parquet', file), 'r+');
      await bytes.write(Buffer.from('?'), 0, 1, 700);
    }
    await using store = await openTabular({ scrubPeriodMs: 1, scrubBytesPerSecond: 1e9 }, { folder });
    await expect
      .poll(async () => (await store.tabular.damage()).files)
      .toMatchObject([{ file, reason: expect.stringContaining('differ from those that were written') }]);
    const verified = () =>
      store.db.selectFrom('tabular_health').select('file').where('verified_ms', 'is not', null).execute();
    await expect.poll(async () => (await verified()).length).toBe(2);
    expect(store.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
    await expect(store.count()).rejects.toMatchObject({ code: 'data_loss' });
  });
});

test('D33 a catalog of an earlier version gets row checksums at the start, and file checksums when its files are first read', async () => {
  await inFolder(async (folder) => {
    const file = await (async () => {
      await using store = await openTabular({}, { folder });
      const second = await fill(store);
      await forgetChecks(store.db);
      return second;
    })();
    await using store = await openTabular({}, { folder });
    const known = async () => {
      const rows = await store.db.selectFrom('tabular_files').select(['file', 'sha256']).orderBy('file').execute();
      return rows.filter(({ sha256 }) => sha256 !== null).map((row) => row.file);
    };
    expect((await store.tabular.damage()).catalog).toEqual([]);
    expect(await store.mql([{ $match: { capture_day: '2026-05-18' } }, { $count: 'n' }])).toEqual([{ n: 1 }]);
    await expect
      .poll(() => store.lines)
      .toContainEqual(
        expect.objectContaining({ message: expect.stringContaining('without a checksum'), fields: { file } }),
      );
    expect(await known()).toEqual([file]);
    expect((await store.tabular.damage()).catalog).toEqual([]);
    expect(await store.count()).toBe(3);
    await expect.poll(async () => (await known()).length).toBe(3);
    {
      await using bytes = await open(join(folder, 'parquet', file), 'r+');
      await bytes.write(Buffer.from('?'), 0, 1, 700);
    }
    await expect(store.count()).rejects.toMatchObject({ code: 'data_loss' });
  });
});
