/** What is captured while every sync takes long: of the files, of their directories, and of the notes of crashes. */
import type { PathLike } from 'node:fs';
import { type FileHandle, readFile } from 'node:fs/promises';
import { silentLog } from '@platform/base';
import { readCaptureFile } from '@platform/capture-file';
import { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import { FakeClock, RecordingDisk, temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { Directories } from '../directories/directories.ts';
import { SeqLedger } from '../directories/seq-ledger.ts';
import { Alive } from '../gaps/alive.ts';
import { ledgerPlan } from '../testing/ledger/capturing.ts';
import { Capture } from './capture.ts';
import { CaptureMemory } from './capture-memory.ts';

interface Setup {
  readonly hz: number;
  readonly resources: number;
  readonly memory?: CaptureMemory;
  readonly queueSize?: number;
}

async function startSlow({ hz, resources, memory, queueSize }: Setup) {
  const home = await temporaryDirectory();
  onTestFinished(() => home[Symbol.asyncDispose]());
  const clock = new FakeClock();
  const slow = { ms: 0, isHung: false };
  const wait = (): Promise<void> => (slow.ms > 0 ? clock.sleep(slow.ms) : Promise.resolve());
  const disk = new RecordingDisk();
  const create = disk.create.bind(disk);
  disk.create = async (path) => {
    const output = await create(path);
    return {
      ...output,
      sync: () => wait().then(output.sync),
      write: async (bytes, position) => {
        if (slow.isHung) await wait();
        await output.write(bytes, position);
      },
    };
  };
  const rename = disk.rename.bind(disk);
  disk.rename = async (from, to) => {
    if (to.endsWith('.capture')) await wait();
    await rename(from, to);
  };
  /** The note as a power cut would leave it. */
  let note = '';
  const openFile = async (path: PathLike): Promise<FileHandle> => {
    note = (await readFile(path, 'utf8')).slice(0, 35);
    let written = note;
    const handle = {
      write: async (text: string) => {
        written = text;
      },
      datasync: async () => {
        const syncing = written;
        await wait();
        note = syncing;
      },
      close: async () => {},
    };
    return handle as unknown as FileHandle;
  };
  const ledger = new SeqLedger();
  const directories = new Directories({ home: home.path, ledger, clock, log: silentLog });
  const alive = new Alive(home.path, '', openFile);
  const counts = { taken: 0, full: 0, missed: 0, unwritten: 0, untold: 0 };
  const capture = new Capture({
    ...{ partId: 'part', storage: () => disk, ledger, directories, alive, clock, log: silentLog },
    ...(memory !== undefined && { memory }),
    read: () => {
      const us = clock.now() * 1_000;
      const [safeUs, untilUs] = note.split(' ').map(Number) as [number, number];
      if (us < safeUs || us > untilUs) counts.untold++;
      return { n: ++counts.taken };
    },
    gaps: {
      unwrittenUs: undefined,
      add(_series, reason, readings) {
        if (reason === GapReason.QUEUE_FULL) counts.full += readings;
        else if (reason === GapReason.UNWRITTEN) counts.unwritten += readings;
        else counts.missed += readings;
      },
    },
  });
  const plans = Array.from({ length: resources }, (_, index) => ({
    ...{ ...ledgerPlan('/c', `s${index}`, hz, 4_096), directory: home.path },
    ...{ maxFileBytes: 262_144, queueSize },
  }));
  await capture.configure(plans);
  capture.start();
  // As sync does at every interval.
  clock.every(6_000, () => void capture.seal());
  const stop = async (): Promise<void> => {
    const stopping = capture[Symbol.asyncDispose]();
    for (let second = 0; second < 5; second++) await clock.advance(1_000);
    await stopping;
    await alive[Symbol.asyncDispose]();
    await directories[Symbol.asyncDispose]();
  };
  const onDisk = (): number =>
    disk.files
      .values()
      .reduce((sum, bytes) => sum + (bytes.length === 0 ? 0 : readCaptureFile(bytes).readings.length), 0);
  return { capture, clock, disk, slow, counts, stop, onDisk };
}

test.each([50, 500, 2_000, 10_000])(
  'C13 with syncs of %i ms, at least 99 %% of the readings are captured, and a crash at any time is told',
  async (ms) => {
    for (const hz of [10, 100]) {
      const { clock, slow, counts, stop, onDisk } = await startSlow({ hz, resources: 3 });
      slow.ms = ms;
      // How slow the disk is has to be learned.
      await clock.advance(15_000);
      const before = counts.taken;
      await clock.advance(60_000);
      expect(counts.taken - before).toBeGreaterThanOrEqual(0.99 * 60 * hz * 3);
      expect(counts.untold).toBe(0);
      slow.ms = 0;
      await clock.advance(30_000);
      await stop();
      expect(counts).toMatchObject({ full: 0, unwritten: 0 });
      expect(onDisk()).toBe(counts.taken);
      expect(counts.taken + counts.missed).toBe(105 * hz * 3);
    }
  },
);

test('C13 readings wait in memory for a disk that hangs, up to the bound, shared equally; then they are skipped and told', async () => {
  const memory = new CaptureMemory(400_000);
  const { clock, slow, counts, stop, onDisk } = await startSlow({ hz: 100, resources: 4, memory });
  await clock.advance(2_000);
  slow.ms = 100_000;
  slow.isHung = true;
  await clock.advance(80_000);
  const { taken, full } = counts;
  expect(full).toBeGreaterThan(0);
  // Ticks that wait for a note are counted once it is there, or is given up.
  expect(taken + full + counts.missed).toBe(82 * 100 * 4);
  // Each counts with its 100 bytes and 200 more.
  expect(taken).toBeGreaterThan(1_200);
  expect(taken).toBeLessThan(2_500);
  slow.ms = 0;
  await clock.advance(200_000);
  await stop();
  expect(onDisk()).toBe(counts.taken);
});

test('C13 a configured capture_queue_size bounds the readings that wait by their number', async () => {
  const { clock, slow, counts, stop } = await startSlow({ hz: 10, resources: 1, queueSize: 5 });
  await clock.advance(1_000);
  slow.ms = 100_000;
  slow.isHung = true;
  await clock.advance(80_000);
  // Those of the first second, until the note expires, and in the queue.
  expect(counts.taken).toBeLessThan(10 + 15 + 5);
  expect(counts.full).toBeGreaterThan(400);
  slow.ms = 0;
  await clock.advance(200_000);
  await stop();
});

test('C5 readings that cannot be written before the stop are told with that reason, and no other', async () => {
  const { clock, disk, counts, stop } = await startSlow({ hz: 10, resources: 2 });
  // Nothing can be written from the first reading on.
  disk.fault = (step) => {
    if (step === 'write') throw Object.assign(new Error('EIO'), { code: 'EIO' });
  };
  await clock.advance(3_000);
  await stop();
  expect(counts.taken).toBeGreaterThan(0);
  expect(counts).toMatchObject({ unwritten: counts.taken, full: 0 });
});

test('ADR-0033 the process does not pause to collect garbage while a capture above 10 Hz would miss ticks', async () => {
  for (const hz of [10, 100]) {
    const { capture, stop } = await startSlow({ hz, resources: 1 });
    expect(capture.isFast).toBe(hz > 10);
    await stop();
    expect(capture.isFast).toBe(false);
  }
});
