import { fileURLToPath } from 'node:url';
import { silentLog, systemClock } from '@platform/base';
import { spawnChild } from '@platform/testkit';
import { expect, test } from 'vitest';
import { openTestStore } from '../../metadata/testing/test-store.ts';
import { throwUncaught } from '../../metadata/testing/throw-uncaught.ts';
import { plannedEntry } from '../testing/append-child.ts';
import { openIngestLog } from './open-ingest-log.ts';

const childFile = fileURLToPath(new URL('../testing/append-child.ts', import.meta.url));

test('I2 I5 a process killed at random instants loses no acknowledged upload, and its retries duplicate none', async () => {
  await using store = await openTestStore();
  const { database } = store;
  const file = store.directory.file('ingest.sqlite');
  const stream = 'ffeeddccbbaa99887766554433221100';
  const batchBytes = 3_000;
  const positions = new Map<number, number>();
  let firstSeq = 1;

  for (let round = 0; round < 6; round++) {
    const plan = { stream, appends: 1_000_000, parallel: 8, batchBytes, truncateEvery: 0, firstSeq };
    await using child = spawnChild(process.execPath, [
      '--conditions=@platform/source',
      childFile,
      database ?? file,
      JSON.stringify(plan),
    ]);
    const enough = 1 + Math.floor(Math.random() * 60);
    let acknowledged = 0;
    await child.waitForLine((line) => line['ack'] !== undefined && ++acknowledged >= enough);
    await child.kill();
    for (const { ack, position, outcome } of child.lines) {
      if (ack === undefined) continue;
      const seq = Number(ack);
      const known = positions.get(seq);
      // Uploads acknowledged before the kill are recognised: as repeated, or as below a low-water mark that was stored meanwhile.
      if (outcome === 'settled') expect({ known, position }).toEqual({ known: expect.any(Number), position: null });
      else if (known !== undefined) expect({ outcome, position }).toEqual({ outcome: 'repeated', position: known });
      else positions.set(seq, Number(position));
    }
    // The next process resends from the last upload known to be stored, as after a lost acknowledgement.
    firstSeq = Math.max(...positions.keys());
  }

  await using log = await openIngestLog({ onFatal: throwUncaught, file, database, log: silentLog, clock: systemClock });
  const rows = await log.read(0, { rows: 1_000_000, bytes: 2 ** 31 });
  expect(rows.map(({ position }) => position)).toEqual(rows.map((_, index) => index + 1));
  const markers = new Set(rows.map(({ batch }) => Buffer.from(batch.subarray(0, 32)).toString('hex')));
  expect(markers.size).toBe(rows.length);
  for (const [seq, position] of positions) {
    const { batch } = plannedEntry({ stream, batchBytes }, seq, 0);
    expect(Buffer.compare(rows[position - 1]?.batch ?? new Uint8Array(), batch), `upload ${seq}`).toBe(0);
  }
});
