import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { memoryDirectory, restoreImage, rollingSeed, seededRandom, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { recordFailedSync } from '../testing/record-failed-sync.ts';

const childFile = fileURLToPath(new URL('../testing/write-child.ts', import.meta.url));

test('I14 metadata: after a failed sync, a start makes durable what it reads back, and a power cut loses nothing that was acknowledged', async () => {
  await using directory = await temporaryDirectory();
  const file = directory.file('meta.sqlite');
  // The second run asks for each edit of the first, also for the one whose commit failed, and adds others.
  const runs = await recordFailedSync(directory.path, 40, (said) => [
    childFile,
    file,
    '1',
    said.length === 0 ? '500' : '60',
  ]);
  expect(runs.failed).toBe(`${file}-wal`);

  const seed = rollingSeed();
  let checked = 0;
  for (const image of runs.images(seededRandom(seed))) {
    await using disk = await memoryDirectory();
    await restoreImage(image, directory.path, disk.path);
    using db = new DatabaseSync(disk.file('meta.sqlite'));
    const stored = new Set(
      db
        .prepare('select id from edit')
        .all()
        .map(({ id }) => Number(id)),
    );
    const lost = runs.said(image.at).filter(({ ack }) => !stored.has(Number(ack)));
    expect(lost, `FAULT_SEED=${seed}, cut before call ${image.at} of ${runs.calls.length}`).toEqual([]);
    expect(db.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' });
    checked++;
  }
  expect(checked).toBeGreaterThan(40);
});
