import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { LogReader } from './log-reader.ts';
import { openLogFile } from './open-log-file.ts';
import { testEntry } from './testing/open-log.ts';

/** Bytes of the header of the write-ahead log, and of each frame before its page (https://www.sqlite.org/fileformat2.html#walformat). */
const [headerBytes, frameHeaderBytes] = [32, 24];

/** Lengths of the write-ahead log at which a commit is whole. */
function commitEnds(wal: Buffer): number[] {
  const pageBytes = wal.readUInt32BE(8);
  const ends: number[] = [];
  for (let at = headerBytes; at + frameHeaderBytes + pageBytes <= wal.length; at += frameHeaderBytes + pageBytes)
    // A frame that commits says how many pages the file has; what the file had been reused for before has another salt.
    if (wal.readUInt32BE(at + 4) > 0 && wal.readUInt32BE(at + 8) === wal.readUInt32BE(16))
      ends.push(at + frameHeaderBytes + pageBytes);
  return ends;
}

test('D33 a tail of ingest.sqlite that is cut anywhere, or damaged, is recovered to the last whole commit before it', async () => {
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
  const ends = commitEnds(wal);
  expect(ends).toEqual(images);
  const cut = directory.file('cut.sqlite');
  /** Positions that are there, each sound, and the next that is given. */
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
  const wholeBefore = (length: number) => ends.filter((end) => end <= length).length;
  const pageBytes = wal.readUInt32BE(8);
  const cuts = new Set<number>([0, 1, headerBytes - 1, headerBytes, wal.length]);
  for (let at = headerBytes; at < wal.length; at += frameHeaderBytes + pageBytes)
    for (const within of [
      0,
      1,
      frameHeaderBytes - 1,
      frameHeaderBytes,
      frameHeaderBytes + 4_097,
      pageBytes + frameHeaderBytes - 1,
    ])
      cuts.add(Math.min(wal.length, at + within));
  for (const length of cuts)
    expect(await recovered(wal.subarray(0, length)), `cut at ${length}`).toBe(wholeBefore(length));

  for (let at = headerBytes + 7; at < wal.length; at += 10_007) {
    const flipped = Buffer.from(wal);
    flipped[at] = (flipped[at] ?? 0) ^ 16;
    expect(await recovered(flipped), `flipped at ${at}`).toBe(wholeBefore(at));
  }
});
