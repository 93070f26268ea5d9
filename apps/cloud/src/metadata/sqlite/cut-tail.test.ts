import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { readWalTail } from '../testing/wal-tail.ts';
import { openWritable } from './sqlite-file.ts';

test('D33 after any truncation or damage of its tail, meta.sqlite recovers to the last complete transaction before it', async () => {
  await using directory = await temporaryDirectory();
  const file = directory.file('meta.sqlite');
  using db = openWritable(file);
  db.exec('create table cursors (position integer not null); create table effects (position integer, text text)');
  db.exec('insert into cursors values (0); pragma wal_checkpoint(truncate)');
  for (let position = 1; position <= 8; position++) {
    db.exec('begin immediate');
    db.prepare('insert into effects values (?, ?)').run(position, 'x'.repeat(position * 1_500));
    db.prepare('update cursors set position = ?').run(position);
    db.exec('commit');
  }
  const wal = await readFile(`${file}-wal`);
  const { commitEnds, cuts, wholeBefore } = readWalTail(wal);
  expect(commitEnds).toHaveLength(8);
  const cut = directory.file('cut.sqlite');
  /** The position of the cursor, after checking that all of its effects exist and no others. */
  const recovered = async (tail: Buffer): Promise<unknown> => {
    await copyFile(file, cut);
    await writeFile(`${cut}-wal`, tail);
    using found = openWritable(cut);
    const { position } = found.prepare('select position from cursors').get() ?? {};
    const effects = found.prepare('select position, length(text) as length from effects order by position').all();
    expect(effects).toEqual(
      Array.from({ length: Number(position) }, (_, i) => ({ position: i + 1, length: (i + 1) * 1_500 })),
    );
    return position;
  };
  for (const length of cuts)
    expect(await recovered(wal.subarray(0, length)), `cut at ${length}`).toBe(wholeBefore(length));
  for (let at = 39; at < wal.length; at += 1_009) {
    const flipped = Buffer.from(wal);
    flipped[at] = (flipped[at] ?? 0) ^ 16;
    expect(await recovered(flipped), `flipped at ${at}`).toBe(wholeBefore(at));
  }
});
