import { fileURLToPath } from 'node:url';
import { memoryDirectory, restoreImage, rollingSeed, seededRandom, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { recordFailedSync } from '../../metadata/testing/record-failed-sync.ts';
import { type AppendPlan, plannedEntry } from '../testing/append-child.ts';
import { LogReader } from './log-reader.ts';
import { openLogFile } from './open-log-file.ts';

const childFile = fileURLToPath(new URL('../testing/append-child.ts', import.meta.url));
const plan: AppendPlan = {
  stream: '00112233445566778899aabbccddeeff',
  appends: 1_000,
  parallel: 3,
  batchBytes: 6_000,
  truncateEvery: 0,
  firstSeq: 1,
};

test('I14 I3 I5 after a failed sync, a start makes durable what it reads back: a retry that it recognises survives a power cut, and no position is used twice', async () => {
  await using directory = await temporaryDirectory();
  const file = directory.file('ingest.sqlite');
  const runs = await recordFailedSync(directory.path, 40, (said) => {
    const acknowledged = said.filter(({ ack }) => ack !== undefined).length;
    // The second run sends again what was not acknowledged, and more.
    const again = { ...plan, firstSeq: acknowledged + 1, appends: 40 };
    return [childFile, file, JSON.stringify(said.length === 0 ? plan : again)];
  });
  expect(runs.failed).toBe(`${file}-wal`);
  const outcomes = runs.said(runs.calls.length).map(({ outcome }) => outcome);
  expect(outcomes, 'a retry of what the failed sync left was recognised').toContain('repeated');

  const seed = rollingSeed();
  let checked = 0;
  for (const image of runs.images(seededRandom(seed))) {
    const where = `FAULT_SEED=${seed}, cut before call ${image.at} of ${runs.calls.length}`;
    await using disk = await memoryDirectory();
    await restoreImage(image, directory.path, disk.path);
    const { db, state } = openLogFile(disk.file('ingest.sqlite'));
    using _ = db;
    using reader = new LogReader(disk.file('ingest.sqlite'));
    const rows = new Map(
      reader.read(0, { rows: 1_000, bytes: 2 ** 30 }).map(({ position, batch }) => [position, Buffer.from(batch)]),
    );
    let last = 0;
    for (const { ack, position } of runs.said(image.at)) {
      if (ack === undefined || typeof position !== 'number') continue;
      last = Math.max(last, position);
      const sent = Buffer.from(plannedEntry(plan, Number(ack), 0).batch);
      expect(rows.get(position)?.equals(sent), `${where}: upload ${ack} at position ${position}`).toBe(true);
    }
    expect(state.lastPosition, where).toBeGreaterThanOrEqual(last);
    checked++;
  }
  expect(checked).toBeGreaterThan(40);
});
