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
  const disk = { isHung: false, isBehind: false, noteMs: 0, syncMs: 0, release: () => {} };
  /** As on the disk. */
  let noted: Note = { safeUs: 0, untilUs: 0 };
  const gaps: { unwrittenUs: number | undefined } = { unwrittenUs: undefined };
  const note = async (next: Note): Promise<void> => {
    if (disk.noteMs > 0) await clock.sleep(disk.noteMs);
    noted = next;
  };
  const file = (isOdd: boolean) => {
    let unwrittenUs: number | undefined;
    const each = {
      add: () => (unwrittenUs ??= wallMicros()),
      get unwrittenUs() {
        return unwrittenUs;
      },
      get isBehind() {
        return isOdd && disk.isBehind;
      },
      async write() {
        if (isOdd && disk.isHung) await new Promise<void>((resolve) => (disk.release = resolve));
        if (!(isOdd && disk.isBehind)) unwrittenUs = undefined;
        return true;
      },
      async sync() {
        if (isOdd && disk.syncMs > 0) await clock.sleep(disk.syncMs);
        return true;
      },
    };
    clock.every(100, () => each.add());
    return each;
  };
  const files = [file(true), file(false)];
  const writeOuts = new WriteOuts({
    alive: {
      capturing: async () => {},
      async mark(safeUs, untilUs = safeUs) {
        synced.push(safeUs);
        await note({ safeUs, untilUs });
      },
      extend: (untilUs) => note({ safeUs: noted.safeUs, untilUs }),
      get untilUs() {
        return noted.untilUs;
      },
      safeUs: undefined,
      hangs: () => {},
      covers: () => true,
      written: async (safeUs, untilUs) => void written.push({ safeUs, untilUs }),
    },
    unwrittenGapUs: () => gaps.unwrittenUs,
    ...{ files: () => files, noted: () => {}, clock, wallMicros, log: new LimitedLog(silentLog, () => clock.now()) },
  });
  let isToDisk = false;
  clock.every(400, () => {
    isToDisk = !isToDisk;
    writeOuts.tick(isToDisk);
  });
  return {
    writeOuts,
    clock,
    wallMicros,
    disk,
    gaps,
    written,
    synced,
    last: () => written.at(-1) as Note,
    noted: () => noted,
  };
}

test('C6 a note of written readings reaches a second beyond the oldest unwritten one, so that a kill costs no more', async () => {
  const { clock, wallMicros, written, last } = startWriteOuts();
  await clock.advance(4_000);
  expect(written.length).toBeGreaterThanOrEqual(9);
  expect(written.every(({ safeUs, untilUs }) => untilUs - safeUs <= 1_000_000)).toBe(true);
  expect(wallMicros() - last().safeUs).toBeLessThanOrEqual(500_000);
});

test('C6 readings do not wait for a disk that is behind or hangs: a kill would be reported with its full cost', async () => {
  const { clock, wallMicros, disk, last } = startWriteOuts();
  await clock.advance(1_000);
  disk.isBehind = true;
  for (let turn = 0; turn < 12; turn++) {
    await clock.advance(500);
    expect(last().untilUs).toBeGreaterThan(wallMicros());
  }
  expect(wallMicros() - last().safeUs).toBeGreaterThan(5_500_000);
  disk.isBehind = false;
  await clock.advance(500);
  expect(last().untilUs - last().safeUs).toBe(1_000_000);
  disk.isHung = true;
  // A busy computer: a kill costs no more than a second.
  await clock.advance(1_400);
  expect(last().untilUs).toBeLessThan(wallMicros());
  expect(last().untilUs - last().safeUs).toBe(1_000_000);
  await clock.advance(1_000);
  for (let turn = 0; turn < 12; turn++) {
    await clock.advance(500);
    expect(last().untilUs).toBeGreaterThan(wallMicros());
  }
  disk.isHung = false;
  disk.release();
  await clock.advance(500);
  expect(last().untilUs - last().safeUs).toBe(1_000_000);
});

test('C6 the note of a slow disk is renewed while files are synced, and reaches so far that the next one is there in time', async () => {
  const { clock, wallMicros, disk, noted } = startWriteOuts();
  disk.noteMs = 10_000;
  disk.syncMs = 70_000;
  // At the beginning, it is not known how slow the disk is.
  await clock.advance(30_000);
  for (let turn = 0; turn < 100; turn++) {
    await clock.advance(2_000);
    expect(noted().untilUs).toBeGreaterThan(wallMicros());
  }
  // One that has been quick for a while needs less.
  disk.noteMs = disk.syncMs = 0;
  await clock.advance(3_600_000);
  expect(noted().untilUs - wallMicros()).toBeLessThan(2_000_000);
});

test('C6 the note of the disk does not reach beyond a reading that could not be written before the sync', async () => {
  const { writeOuts, clock, wallMicros, disk, synced } = startWriteOuts();
  await clock.advance(400);
  const startUs = wallMicros();
  await writeOuts.writeOut();
  expect(synced.at(-1)).toBe(startUs);
  disk.isBehind = true;
  await clock.advance(1_000);
  await writeOuts.writeOut();
  expect(synced.at(-1)).toBe(startUs + 100_000);
});

test('C6 a gap that cannot be written to the disk stays in what a crash would report, and no reading waits for it', async () => {
  const { clock, wallMicros, gaps, last, noted } = startWriteOuts();
  await clock.advance(2_000);
  gaps.unwrittenUs = 1_500_000;
  for (let turn = 0; turn < 12; turn++) {
    await clock.advance(800);
    expect(last().safeUs).toBe(1_500_000);
    expect(noted().safeUs).toBe(1_500_000);
    expect(Math.min(last().untilUs, noted().untilUs)).toBeGreaterThan(wallMicros());
  }
  gaps.unwrittenUs = undefined;
  await clock.advance(1_600);
  expect(wallMicros() - Math.min(last().safeUs, noted().safeUs)).toBeLessThanOrEqual(1_000_000);
});
