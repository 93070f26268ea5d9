import type { PathLike } from 'node:fs';
import { type FileHandle, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, createLog, silentLog, systemClock } from '@platform/base';
import { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import { FakeClock, RecordingDisk } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { Directories } from '../directories/directories.ts';
import { diskStorage } from '../directories/disk-storage.ts';
import { SeqLedger } from '../directories/seq-ledger.ts';
import { Alive } from '../gaps/alive.ts';
import { ledgerPlan } from '../testing/ledger/capturing.ts';
import { until } from '../testing/start-test-server.ts';
import { Capture } from './capture.ts';
import type { CapturePlan } from './plan-capture.ts';

/** Shortens every wait to at most 20 ms, so that tests need not wait out a grace period. */
const hasty: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 20), signal) };

test('if a sensor answers after its capture has ended, the reading is dropped and reported once, and no file is left open', async () => {
  const home = await mkdtemp(join(tmpdir(), 'capture-'));
  onTestFinished(() => rm(home, { recursive: true }));
  const directory = join(home, 'capture');
  const told: string[] = [];
  const log = createLog((level, _logger, message) => level !== 'info' && level !== 'debug' && told.push(message));
  const ledger = new SeqLedger();
  await using directories = new Directories({ home, ledger, clock: systemClock, log });
  const answers: ((document: { n: number }) => void)[] = [];
  await using capture = new Capture({
    partId: 'part',
    storage: ({ directory: at }) => diskStorage(at),
    ledger,
    directories,
    read: () => new Promise((resolve) => answers.push(resolve)),
    gaps: { add: () => {}, unwrittenUs: undefined },
    alive: {
      capturing: async () => {},
      mark: async () => {},
      extend: async () => {},
      written: async () => {},
      covers: () => true,
      untilUs: Number.POSITIVE_INFINITY,
      safeUs: undefined,
      hangs: () => {},
    },
    clock: hasty,
    log,
  });
  const plan: CapturePlan = {
    key: 's Readings',
    resource: 'core:component:sensor/s',
    api: 'core:component:sensor',
    name: 's',
    method: 'Readings',
    kind: 'tabular',
    hz: 100,
    extraMs: 0,
    params: {},
    tags: [],
    directory,
    maxFileBytes: 10_000,
    queueSize: 10,
    bufferBytes: 0,
  };
  const files = async (): Promise<string[]> =>
    (await readdir(directory, { recursive: true })).filter((name) => /\.(prog|capture)$/.test(name));

  await capture.configure([plan]);
  await until('a first question', () => answers.length === 1);
  answers[0]?.({ n: 1 });
  await until('a second question', () => answers.length === 2);
  await capture.configure([]);
  const sealed = await files();
  expect(sealed).toEqual([expect.stringMatching(/\.capture$/)]);
  answers[1]?.({ n: 2 });
  const dropped = (): string[] => told.filter((message) => message.includes('is dropped'));
  await until('the late reading told', () => dropped().length > 0);
  expect(dropped()).toEqual([
    'core:component:sensor/s Readings: a reading arrived after its capture had ended; it is dropped',
  ]);
  expect(await files()).toEqual(sealed);
});

test('the cost of a crash is noted often enough that a slow sync still ends within the reported second', async () => {
  const home = await mkdtemp(join(tmpdir(), 'capture-'));
  onTestFinished(() => rm(home, { recursive: true }));
  const clock = new FakeClock();
  const ledger = new SeqLedger();
  await using directories = new Directories({ home, ledger, clock, log: silentLog });
  const marksMs: number[] = [clock.now()];
  await using capture = new Capture({
    ...{
      partId: 'part',
      storage: ({ directory: at }) => diskStorage(at),
      ledger,
      directories,
      read: () => undefined,
      gaps: { add: () => {}, unwrittenUs: undefined },
    },
    alive: {
      capturing: async () => {},
      mark: async (safeUs) => void marksMs.push(safeUs / 1_000),
      extend: async () => {},
      written: async () => {},
      covers: () => true,
      untilUs: Number.POSITIVE_INFINITY,
      safeUs: undefined,
      hangs: () => {},
    },
    ...{ clock, log: silentLog },
  });
  capture.start();
  await clock.advance(10_000);
  const longest = Math.max(...marksMs.slice(1).map((ms, index) => ms - (marksMs[index] ?? 0)));
  expect(longest).toBeLessThanOrEqual(800);
});

test('on a slow disk, the cost of a crash is noted once right before the first reading, once its directory is owned', async () => {
  const home = await mkdtemp(join(tmpdir(), 'capture-'));
  onTestFinished(() => rm(home, { recursive: true }));
  const clock = new FakeClock();
  const ledger = new SeqLedger();
  await using directories = new Directories({ home, ledger, clock, log: silentLog });
  const own = directories.own.bind(directories);
  const steps: string[] = [];
  directories.own = async (directory) => {
    const isOwned = await own(directory);
    await clock.sleep(2_000);
    steps.push('owned');
    return isOwned;
  };
  let notedMs = 0;
  let noted = { safeUs: 0, untilUs: 0 };
  const reads: number[] = [];
  await using capture = new Capture({
    ...{
      partId: 'part',
      storage: ({ directory: at }) => diskStorage(at),
      ledger,
      directories,
      gaps: { add: () => {}, unwrittenUs: undefined },
    },
    read: () => {
      reads.push(clock.now());
      return undefined;
    },
    alive: {
      async capturing(_series, safeUs, untilUs = 0) {
        notedMs = safeUs / 1_000;
        noted = { safeUs, untilUs };
        steps.push('noted');
        await clock.sleep(1_500);
      },
      mark: async () => {},
      extend: async () => {},
      written: async () => {},
      covers: () => true,
      untilUs: Number.POSITIVE_INFINITY,
      safeUs: undefined,
      hangs: () => {},
    },
    ...{ clock, log: silentLog },
  });
  let isConfigured = false;
  const configured = capture.configure([ledgerPlan(join(home, 'capture'), 'temp', 10, 4_096)]).then(() => {
    isConfigured = true;
  });
  while (!isConfigured) {
    await clock.advance(50);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await configured;
  await clock.advance(200);
  expect(steps).toEqual(['owned', 'noted']);
  const firstMs = reads[0] ?? 0;
  expect(firstMs - notedMs).toBeLessThanOrEqual(1_700);
  expect(noted.untilUs / 1_000).toBeGreaterThan(firstMs + 10_000);
});

test('C6 while the disk stalls, no reading is taken at a time that a crash would not report; each tick is taken or counted as missed', async () => {
  const home = await mkdtemp(join(tmpdir(), 'capture-'));
  onTestFinished(() => rm(home, { recursive: true }));
  const clock = new FakeClock();
  const ledger = new SeqLedger();
  await using directories = new Directories({ home, ledger, clock, log: silentLog });
  /** The note as written, and as a power cut would leave it. */
  let [written, synced] = ['', ''];
  let stall: Promise<void> | undefined;
  const openFile = async (path: PathLike): Promise<FileHandle> => {
    written = synced = (await readFile(path, 'utf8')).slice(0, 35);
    const handle = {
      write: async (text: string) => {
        written = text;
      },
      datasync: async () => {
        const syncing = written;
        await stall;
        synced = syncing;
      },
      close: async () => {},
    };
    return handle as unknown as FileHandle;
  };
  await using alive = new Alive(home, '', openFile);
  const reads: number[] = [];
  const untold: number[] = [];
  let missed = 0;
  const capture = new Capture({
    ...{ partId: 'part', storage: () => new RecordingDisk(), ledger, directories, alive, clock, log: silentLog },
    read: () => {
      const us = clock.now() * 1_000;
      reads.push(us);
      const [safeUs, untilUs] = synced.split(' ').map(Number) as [number, number];
      if (us < safeUs || us > untilUs) untold.push(us);
      return { n: reads.length };
    },
    gaps: {
      unwrittenUs: undefined,
      add(_series, reason, readings) {
        if (reason === GapReason.MISSED) missed += readings;
      },
    },
  });
  await capture.configure([ledgerPlan(join(home, 'capture'), 'temp', 10, 4_096)]);
  capture.start();
  await clock.advance(3_000);
  expect([reads.length, missed]).toEqual([30, 0]);
  const { promise, resolve: release } = Promise.withResolvers<void>();
  // Even if the test fails, because the note waits for it.
  using _ended = { [Symbol.dispose]: release };
  stall = promise;
  await clock.advance(6_000);
  // The readings that the note from before the stall covers.
  expect(reads.length).toBeGreaterThanOrEqual(30);
  expect(reads.length).toBeLessThanOrEqual(40);
  stall = undefined;
  release();
  await clock.advance(2_000);
  expect(reads.length + missed).toBe(110);
  expect(reads.length).toBeGreaterThanOrEqual(50);
  expect(untold).toEqual([]);
  // A step of the clock loses no tick.
  const before = missed;
  for (const years of [1, -2]) {
    clock.setWall(clock.now() + years * 31_557_600_000);
    await clock.advance(1_000);
  }
  expect([reads.length + missed, missed]).toEqual([130, before]);
  expect(untold).toEqual([]);
  await capture[Symbol.asyncDispose]();
});
