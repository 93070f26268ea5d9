import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inFolder } from '../testing/fill-days.ts';
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
