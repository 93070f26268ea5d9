import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { readWalTail } from '../../metadata/testing/wal-tail.ts';
import { testEntry } from '../testing/test-entry.ts';
import { LogReader } from './log-reader.ts';
import { openLogFile } from './open-log-file.ts';

test('D33 an ingest.sqlite with a tail truncated anywhere, or damaged, is recovered to the last complete commit before it', async () => {
  await using directory = await temporaryDirectory();
  const file = directory.file('ingest.sqlite');
  const appends = 6;
  const images: number[] = [];
  const { db, appender } = openLogFile(file);
  using _ = db;
  db.exec('pragma wal_checkpoint(truncate)');
  for (let seq = 1; seq <= appends; seq++) {
    appender.begin();
    appender.append(testEntry(seq, `${seq}`.repeat(seq * 5_000)));
    appender.commit();
    images.push((await readFile(`${file}-wal`)).length);
  }
  const wal = await readFile(`${file}-wal`);
  const { commitEnds, cuts, wholeBefore } = readWalTail(wal);
  expect(commitEnds).toEqual(images);
  const cut = directory.file('cut.sqlite');
  /** Positions that exist and are undamaged, and the next position to be assigned. */
  const recovered = async (tail: Buffer) => {
    await copyFile(file, cut);
    await writeFile(`${cut}-wal`, tail);
    const opened = openLogFile(cut);
    try {
      using reader = new LogReader(cut);
      const rows = reader.follow(0, { rows: 100, bytes: 1e9 });
      expect(rows.map(({ damage }) => damage)).toEqual(rows.map(() => undefined));
      expect(opened.state.lastPosition).toBe(rows.length);
      return rows.length;
    } finally {
      opened.db.close();
    }
  };
  for (const length of cuts)
    expect(await recovered(wal.subarray(0, length)), `cut at ${length}`).toBe(wholeBefore(length));

  for (let at = 39; at < wal.length; at += 10_007) {
    const flipped = Buffer.from(wal);
    flipped[at] = (flipped[at] ?? 0) ^ 16;
    expect(await recovered(flipped), `flipped at ${at}`).toBe(wholeBefore(at));
  }
});
