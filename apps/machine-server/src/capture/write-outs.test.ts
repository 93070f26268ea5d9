import { silentLog } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { LimitedLog } from '../logging/limited-log.ts';
import { WriteOuts } from './write-outs.ts';

interface Note {
  readonly safeUs: number;
  readonly untilUs: number;
}

/** Two series, written to every 100 ms; the test controls the disk of the first. */
function startWriteOuts() {
  const clock = new FakeClock();
  const wallMicros = (): number => clock.now() * 1_000;
  const [written, synced]: [Note[], number[]] = [[], []];
  const disk = { isHung: false, isBehind: false, failures: 0, release: () => {} };
  const file = (isOdd: boolean) => {
    let unwrittenUs: number | undefined;
    const each = {
      add: () => (unwrittenUs ??= wallMicros()),
      get unwrittenUs() {
        return unwrittenUs;
      },
      get failures() {
        return isOdd ? disk.failures : 0;
      },
      async write() {
        if (isOdd && disk.failures > 0) return false;
        if (isOdd && disk.isHung) await new Promise<void>((resolve) => (disk.release = resolve));
        if (!(isOdd && disk.isBehind)) unwrittenUs = undefined;
        return true;
      },
      sync: async () => true,
    };
    clock.every(100, () => each.add());
    return each;
  };
  const files = [file(true), file(false)];
  const writeOuts = new WriteOuts({
    alive: {
      capturing: async () => {},
      mark: async (safeUs) => void synced.push(safeUs),
      extend: async () => {},
      covers: () => true,
      written: async (safeUs, untilUs) => void written.push({ safeUs, untilUs }),
    },
    ...{ files: () => files, noted: () => {}, clock, wallMicros, log: new LimitedLog(silentLog, () => clock.now()) },
  });
  clock.every(400, () => void writeOuts.write());
  return { writeOuts, clock, wallMicros, disk, written, synced, last: () => written.at(-1) as Note };
}

test('C6 a note of written readings reaches a second beyond the oldest unwritten one, so that a kill costs no more', async () => {
  const { clock, wallMicros, written, last } = startWriteOuts();
  await clock.advance(4_000);
  expect(written.length).toBeGreaterThanOrEqual(9);
  expect(written.every(({ safeUs, untilUs }) => untilUs - safeUs <= 1_000_000)).toBe(true);
  expect(wallMicros() - last().safeUs).toBeLessThanOrEqual(500_000);
});

test('C6 readings wait for a slow disk, but not for one that fails or hangs: it may be that of another series', async () => {
  const { clock, wallMicros, disk, written, last } = startWriteOuts();
  await clock.advance(1_000);
  disk.isHung = true;
  await clock.advance(1_800);
  expect(last().untilUs).toBeLessThan(wallMicros());
  expect(written.every(({ safeUs, untilUs }) => untilUs - safeUs <= 1_000_000)).toBe(true);
  await clock.advance(1_200);
  expect(last().untilUs).toBeGreaterThan(wallMicros());
  await clock.advance(4_000);
  expect(last().untilUs).toBeGreaterThan(wallMicros());
  // A kill would be reported with its full cost.
  expect(wallMicros() - last().safeUs).toBeGreaterThan(6_000_000);
  disk.isHung = false;
  disk.release();
  await clock.advance(500);
  expect(last().untilUs - last().safeUs).toBe(1_000_000);
  disk.failures = 1;
  await clock.advance(500);
  expect(last().untilUs).toBeGreaterThan(wallMicros());
});

test('C6 the note of the disk does not reach beyond a reading that could not be written before the sync', async () => {
  const { writeOuts, clock, wallMicros, disk, synced } = startWriteOuts();
  await clock.advance(400);
  const startUs = wallMicros();
  await writeOuts.writeOut();
  expect(synced).toEqual([startUs]);
  disk.isBehind = true;
  await clock.advance(1_000);
  await writeOuts.writeOut();
  expect(synced[1]).toBe(startUs + 100_000);
});
