import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, createLog, silentLog, systemClock } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { Directories } from '../directories/directories.ts';
import { diskStorage } from '../directories/disk-storage.ts';
import { SeqLedger } from '../directories/seq-ledger.ts';
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
  const log = createLog((level, _logger, message) => level !== 'info' && told.push(message));
  const ledger = new SeqLedger();
  await using directories = new Directories({ home, ledger, clock: systemClock, log });
  const answers: ((document: { n: number }) => void)[] = [];
  await using capture = new Capture({
    partId: 'part',
    storage: () => diskStorage,
    ledger,
    directories,
    read: () => new Promise((resolve) => answers.push(resolve)),
    gaps: { add: () => {} },
    alive: { capturing: async () => {}, mark: async () => {}, extend: async () => {} },
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

test('what a crash costs is noted often enough that a slow sync still ends within the second that is reported', async () => {
  const home = await mkdtemp(join(tmpdir(), 'capture-'));
  onTestFinished(() => rm(home, { recursive: true }));
  const clock = new FakeClock();
  const ledger = new SeqLedger();
  await using directories = new Directories({ home, ledger, clock, log: silentLog });
  const marksMs: number[] = [clock.now()];
  await using capture = new Capture({
    ...{
      partId: 'part',
      storage: () => diskStorage,
      ledger,
      directories,
      read: () => undefined,
      gaps: { add: () => {} },
    },
    alive: {
      capturing: async () => {},
      mark: async (safeUs) => void marksMs.push(safeUs / 1_000),
      extend: async () => {},
    },
    ...{ clock, log: silentLog },
  });
  capture.start();
  await clock.advance(10_000);
  const longest = Math.max(...marksMs.slice(1).map((ms, index) => ms - (marksMs[index] ?? 0)));
  expect(longest).toBeLessThanOrEqual(800);
});

test('on a slow disk, what a crash costs is noted again right before the first reading, once its directory is owned', async () => {
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
  let [notedMs, slowNotes] = [0, 2];
  const reads: number[] = [];
  await using capture = new Capture({
    ...{ partId: 'part', storage: () => diskStorage, ledger, directories, gaps: { add: () => {} } },
    read: () => {
      reads.push(clock.now());
      return undefined;
    },
    alive: {
      async capturing(_series, safeUs) {
        notedMs = safeUs / 1_000;
        steps.push('noted');
        if (slowNotes-- > 0) await clock.sleep(1_500);
      },
      mark: async () => {},
      extend: async () => {},
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
  expect(steps).toEqual(['owned', 'noted', 'noted', 'noted']);
  expect((reads[0] ?? 0) - notedMs).toBeLessThanOrEqual(200);
});
