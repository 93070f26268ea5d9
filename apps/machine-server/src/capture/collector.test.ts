import { createLog, PlatformError, silentLog } from '@platform/base';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Collector } from './collector.ts';
import type { RollFile } from './roll-file.ts';

test('a failed reading is logged with its resource and reason, the same failure at most once a minute', () => {
  const told: string[] = [];
  let micros = 0;
  let reason = 'no answer from /dev/i2c-1';
  const collector = new Collector({
    name: 'core:component:sensor/temp Readings',
    read: () => {
      throw new Error(reason);
    },
    limitMs: 60_000,
    ...{ gap: () => {}, intervalMs: 1_000 },
    file: { ready: true } as RollFile,
    wallMicros: () => micros,
    covers: () => true,
    monotonicMs: () => micros / 1_000,
    log: createLog((level, _logger, message) => told.push(`${level} ${message}`)),
  });
  collector.tick(2);
  reason = 'the bus is gone';
  collector.tick(1);
  micros = 61_000_000;
  collector.tick(1);
  expect(told).toEqual([
    'warn core:component:sensor/temp Readings: a reading failed: no answer from /dev/i2c-1',
    'warn core:component:sensor/temp Readings: a reading failed: the bus is gone',
    'warn core:component:sensor/temp Readings: a reading failed: the bus is gone',
  ]);
  expect(collector.failed).toBe(4);
});

test('a reading that hangs is given up after its limit, its late answer is discarded, and the next one is taken and reported', async () => {
  const told: string[] = [];
  const kept: Uint8Array[] = [];
  let nowMs = 0;
  const answers: ((document: { n: number }) => void)[] = [];
  const signals: AbortSignal[] = [];
  const collector = new Collector({
    name: 'temp',
    read: (signal) => {
      signals.push(signal);
      return new Promise((resolve) => answers.push(resolve));
    },
    limitMs: 60_000,
    ...{ gap: () => {}, intervalMs: 1_000 },
    file: { ready: true, add: (bytes) => kept.push(bytes) > 0 },
    wallMicros: () => nowMs * 1_000,
    covers: () => true,
    monotonicMs: () => nowMs,
    log: createLog((level, _logger, message) => told.push(`${level} ${message}`)),
  });
  for (let hung = 0; hung < 2; hung++) {
    collector.tick(1);
    nowMs += 59_999;
    collector.check();
    collector.tick(1);
    nowMs += 1;
    collector.check();
  }
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  expect([collector.failed, collector.late, collector.error]).toEqual([2, 2, 'no answer within 60 s']);
  answers[0]?.({ n: 1 });
  collector.tick(1);
  answers[2]?.({ n: 3 });
  await collector.settled();
  expect([kept.length, collector.taken, collector.error]).toEqual([1, 1, undefined]);
  expect(told.filter((line) => !line.includes('more slowly'))).toEqual([
    'warn temp: a reading failed: no answer within 60 s',
    'warn temp: a reading failed: no answer within 60 s',
    'info temp: readings arrive again',
  ]);
});

test('a reading that a module filters out is neither stored nor a failure', () => {
  const collector = new Collector({
    name: 'temp',
    read: () => {
      throw new PlatformError('failed_precondition', 'no capture from filter module');
    },
    limitMs: 60_000,
    ...{ gap: () => {}, intervalMs: 1_000 },
    file: { ready: true, add: () => expect.fail('stored') },
    ...{ wallMicros: () => 0, covers: () => true, monotonicMs: () => 0, log: silentLog },
  });
  collector.tick(1);
  expect([collector.taken, collector.failed]).toEqual([0, 0]);
});

test('taken and missing readings add up to all ticks, whatever the resource and the disk do', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.constantFrom(
          ...(['at once', 'later', 'answer', 'fail', 'full', 'room', 'stall', 'give up'] as const),
          ...(['not noted', 'noted'] as const),
        ),
        { maxLength: 60 },
      ),
      async (events) => {
        let [ticks, missing, nowMs] = [0, 0, 0];
        let how = 'at once';
        let [ready, isCovered] = [true, true];
        const answers: (() => void)[] = [];
        const collector = new Collector({
          name: 'temp',
          read: () => {
            expect(isCovered).toBe(true);
            if (how === 'fail') throw new Error('stuck');
            return how === 'later' ? new Promise((resolve) => answers.push(() => resolve({}))) : {};
          },
          limitMs: 60_000,
          intervalMs: 100,
          gap: (_reason, readings) => {
            missing += readings;
          },
          file: {
            get ready() {
              return ready;
            },
            add: () => true,
          },
          wallMicros: () => nowMs * 1_000,
          covers: () => isCovered,
          monotonicMs: () => nowMs,
          log: silentLog,
        });
        for (const event of events) {
          nowMs += 100;
          if (event === 'answer') answers.shift()?.();
          else if (event === 'full' || event === 'room') ready = event === 'room';
          else if (event === 'give up') nowMs += 60_000;
          else if (event === 'not noted' || event === 'noted') isCovered = event === 'noted';
          else if (event !== 'stall') how = event;
          await new Promise((resolve) => setImmediate(resolve));
          collector.check();
          if (isCovered) collector.resume();
          const missed = event === 'stall' ? 7 : 0;
          ticks += 1 + missed;
          collector.tick(1, missed);
        }
        nowMs += 60_000;
        collector.check();
        collector.abandon();
        expect(collector.taken + missing).toBe(ticks);
      },
    ),
    { numRuns: 100 },
  );
});
