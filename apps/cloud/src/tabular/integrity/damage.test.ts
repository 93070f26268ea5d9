import { link, open, readdir, readFile, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type OpenTabular, openTabular } from '../testing/open-tabular.ts';

const noonMs = Date.UTC(2026, 4, 17, 12);
const dayMs = 86_400_000;
const rowsOfDay = 3_000;

/** Three days, one file each, the oldest first; DuckDB stores pages of these values uncompressed. */
async function fill(store: OpenTabular): Promise<string[]> {
  for (let day = 0; day < 3; day++)
    store.append({
      readings: Array.from({ length: rowsOfDay }, (_, i) => ({
        data: { i, v: Math.sin(i + day) * 1e6, text: `${Math.cos(i * 7 + day)}` },
        receivedMs: noonMs + day * dayMs + i,
      })),
      syncedMs: noonMs + 3 * dayMs,
    });
  await store.tabular.seal();
  return (await readdir(join(store.dataDir, 'parquet'))).filter((name) => name.endsWith('.parquet')).toSorted();
}

const ofDay = (day: string) => ({ $match: { capture_day: day } });
const total = { $group: { _id: null, sum: { $sum: '$data.v' }, n: { $sum: 1 }, last: { $max: '$data.text' } } };
const everything = [total];

async function flip(path: string, at: number): Promise<void> {
  await using file = await open(path, 'r+');
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, at);
  byte[0] = (byte[0] ?? 0) ^ 0x10;
  await file.write(byte, 0, 1, at);
}

async function expectDamaged(store: OpenTabular, file: string, says: RegExp): Promise<void> {
  const failed: unknown = await store.mql(everything).catch((caught: unknown) => caught);
  expect(failed).toMatchObject({ code: 'data_loss', message: expect.stringMatching(says) });
  expect((failed as Error).message).toContain(file);
  expect((failed as Error).message).not.toContain(store.dataDir);
  // The times named in the error can be queried.
  const [, most = '', least = ''] = /is at most (\S+), or at least (\S+),/.exec((failed as Error).message) ?? [];
  expect([most, least]).toEqual([new Date(noonMs - 1).toISOString(), new Date(noonMs + rowsOfDay).toISOString()]);
  const countOf = (received: object) => store.mql([{ $match: { time_received: received } }, { $count: 'n' }]);
  expect(await countOf({ $lte: new Date(most) })).toEqual([]);
  expect(await countOf({ $gte: new Date(least) })).toEqual([{ n: 2 * rowsOfDay }]);
  await expect(countOf({ $gte: new Date(noonMs + rowsOfDay - 1) })).rejects.toMatchObject({ code: 'data_loss' });
  expect(await store.mql([{ $match: { component_name: 'elsewhere' } }, { $count: 'n' }])).toEqual([]);
  // Queries of other days are still answered.
  expect(await store.mql([ofDay('2026-05-19'), { $count: 'n' }])).toEqual([{ n: rowsOfDay }]);
  await expect
    .poll(async () => (await store.tabular.damage()).files)
    .toMatchObject([{ file, reason: expect.stringMatching(says) }]);
}

const parquet = (store: OpenTabular, file: string): string => join(store.dataDir, 'parquet', file);

test('D33 one flipped bit of a sealed file causes an error with file and location; a restored file is readable again', async () => {
  await using store = await openTabular();
  const [first = ''] = await fill(store);
  const path = parquet(store, first);
  const right = await store.mql(everything);
  const { length } = await readFile(path);
  for (const at of [4, Math.floor(length / 5), Math.floor(length / 2), length - 3_000, length - 2]) {
    await flip(path, at);
    await expectDamaged(store, first, /bytes 0 to \d+ differ from those that were written/);
    await flip(path, at);
    expect(await store.mql(everything)).toEqual(right);
    await expect.poll(async () => (await store.tabular.damage()).files).toEqual([]);
  }
  const errors = store.lines.filter(({ level }) => level === 'error');
  expect(errors).toHaveLength(5);
});

test('D33 a file that is truncated, longer, missing, a link or another listed file causes an error that names it', async () => {
  await using store = await openTabular();
  const [first = '', second = ''] = await fill(store);
  const path = parquet(store, first);
  const right = await store.mql(everything);
  const bytes = await readFile(path);
  const damages: readonly [RegExp, () => Promise<void>][] = [
    [/has \d+ bytes instead of/, () => truncate(path, bytes.length - 1)],
    [/has \d+ bytes instead of/, () => writeFile(path, 'x', { flag: 'a' })],
    [/missing/, () => rm(path)],
    [/symbolic link/, () => rename(path, `${path}.kept`).then(() => symlink(`${path}.kept`, path))],
    [/bytes/, () => rm(path).then(() => link(parquet(store, second), path))],
  ];
  for (const [says, damage] of damages) {
    await damage();
    await expectDamaged(store, first, says);
    await expectDamaged(store, first, says);
    await rm(path, { force: true });
    await writeFile(path, bytes);
    expect(await store.mql(everything)).toEqual(right);
  }
});

test('D33 damage is found even if the file times were reset, and by the next process', async () => {
  await using store = await openTabular();
  const [first = ''] = await fill(store);
  const path = parquet(store, first);
  const right = await store.mql(everything);
  const early = new Date(noonMs);
  await utimes(path, early, early);
  expect(await store.mql(everything)).toEqual(right);
  await flip(path, 5_000);
  await utimes(path, early, early);
  await expectDamaged(store, first, /bytes/);
  store.tabular.killProcess();
  await expectDamaged(store, first, /bytes/);
});
