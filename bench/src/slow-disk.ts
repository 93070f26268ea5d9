/**
 * What a machine-server captures while every fdatasync and fsync of its process takes long: a preloaded library delays them, so that they
 * hold the threads that a slow disk would hold. Its readings are counted on the disk after it stopped. Beside each figure stands what a bare
 * timer of the same frequency, which does nothing, takes at the same time, and what other programs use of the computer.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromBinary } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { jsonIn } from '@platform/base';
import { readCaptureFile } from '@platform/capture-file';
import { nodeFlags } from '@platform/machine-server/node-flags';
import { SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import { cpuSeconds, startDiskFaults, temporaryDirectory } from '@platform/testkit';
import { thriftyEnvironment } from '../../apps/cli/bin/become-node.js';
import { program } from '../../tools/bundles/program.ts';
import { measureOthers } from './figures/measure-others.ts';
import { captureConfiguration } from './readings/part-configuration.ts';
import type { Figure } from './store/figure.ts';

export interface SlowDiskOptions {
  /** Measured time of each row. */
  readonly seconds: number;
  /** Some of the delays in milliseconds, and `hang`, separated by commas; empty: all. */
  readonly only: string;
}

const frequencies = [10, 100];
const resources = [1, 50];
/** Without a delay: what the computer itself lets a machine-server capture at that time. */
const delaysMs = [0, 50, 500, 2_000, 10_000];
/** Longer than the notes of a crash need to learn how slow the disk is: a disk that becomes slow at once costs a sync's time of readings. */
const warmUpMs = (delayMs: number): number => 5_000 + 4 * delayMs;
/** A disk that hangs. */
const hungMs = 1_000_000;
const longestFillMs = 400_000;

export async function measureSlowDisk({ seconds, only }: SlowDiskOptions): Promise<Figure[]> {
  const isAsked = (piece: string): boolean => only === '' || only.split(',').includes(piece);
  const figures: Figure[] = [];
  const add = (figure: Figure): void => {
    process.stderr.write(`${figure.name}: ${figure.value.toFixed(1)} ${figure.unit} (${figure.note})\n`);
    figures.push(figure);
  };
  for (const delayMs of delaysMs.filter((ms) => isAsked(String(ms))))
    for (const hz of frequencies)
      for (const count of resources) add(await measureOne(delayMs, hz, count, seconds * 1_000));
  if (isAsked('hang')) add(await measureBound(100, 50));
  return figures;
}

async function measureOne(delayMs: number, hz: number, count: number, forMs: number): Promise<Figure> {
  await using machine = await startMachine(delayMs, hz, count);
  await sleep(warmUpMs(delayMs));
  const [others, bare, before, from] = [measureOthers(), startBareTicks(hz), machine.cpuSeconds(), Date.now()];
  await sleep(forMs);
  const [to, after, limit, load] = [Date.now(), machine.cpuSeconds(), bare.stop(), others()];
  const peak = machine.peakMegabytes();
  await machine.stop();
  const [skipped, missed] = [machine.gaps(GapReason.QUEUE_FULL), machine.gaps(GapReason.MISSED)];
  const unwritten = machine.gaps(GapReason.UNWRITTEN);
  const captured = machine.capturedAtMs().filter((ms) => ms >= from && ms < to).length;
  const due = (hz * count * (to - from)) / 1_000;
  const notes = [
    `${captured} of ${due.toFixed(0)} in ${(forMs / 1_000).toFixed(0)} s`,
    `of the whole run ${missed} missed, ${skipped} skipped, ${unwritten} unwritten, ${machine.delayed()} syncs delayed, ${peak} MB at most`,
    `${(((after - before) * 1e5) / (to - from)).toFixed(0)} % of a core, others ${load.toFixed(2)} cores`,
    `the bare timer stalled for ${limit.longestMs.toFixed(0)} ms at most`,
  ];
  return {
    name: `syncs of ${delayMs} ms, ${count} × ${hz} Hz: captured ÷ due`,
    ...{ value: (captured / due) * 100, unit: '%', beside: limit.percent },
    ...(delayMs > 0 && { least: 99 }),
    note: notes.join('; '),
  };
}

/** How long a disk may hang until readings are skipped. */
async function measureBound(hz: number, count: number): Promise<Figure> {
  // Not for the journal of gaps, from which it is known.
  await using machine = await startMachine(hungMs, hz, count, ['captures/*', 'capture_alive*']);
  const from = Date.now();
  while (machine.gaps(GapReason.QUEUE_FULL) === 0 && Date.now() - from < longestFillMs) await sleep(500);
  const value = (Date.now() - from) / 1_000;
  const note = `64 MiB of ${count * hz} readings/s; ${machine.peakMegabytes()} MB at most`;
  return { name: `a disk that hangs, ${count} × ${hz} Hz: time until readings are skipped`, value, unit: 's', note };
}

/** @param paths of the files whose syncs are delayed, below the home of the machine-server */
async function startMachine(delayMs: number, hz: number, count: number, paths: readonly string[] = ['*']) {
  await using stack = new AsyncDisposableStack();
  const home = stack.use(await temporaryDirectory());
  const disk = stack.use(await startDiskFaults(home.path));
  const captures = home.file('captures');
  mkdirSync(captures);
  const { components } = captureConfiguration(count, hz * count) as { components: object[] };
  const attributes = { capture_dir: captures, sync_disabled: true };
  const services = [
    { name: 'data_manager', api: 'core:service:data_manager', model: 'core:builtin:builtin', attributes },
  ];
  const config = home.file('machine.json');
  writeFileSync(config, JSON.stringify({ components, services }), { mode: 0o600 });
  const entry = program('machine-server');
  const node = [...process.execArgv, ...nodeFlags, entry, '-config', config];
  const env = { ...process.env, ...thriftyEnvironment, ...disk.env, PLATFORM_HOME: home.path };
  const machine = spawn(process.execPath, node, { stdio: 'ignore', env });
  const ended = once(machine, 'close');
  stack.defer(async () => {
    // Also one that a call of the disk holds.
    machine.kill('SIGKILL');
    await ended;
  });
  await once(machine, 'spawn');
  const pid = machine.pid as number;
  const filesOf = (name: RegExp): string[] =>
    readdirSync(captures, { recursive: true, encoding: 'utf8' }).filter((each) => name.test(each));
  while (filesOf(/\.prog$/).length < count) {
    if (machine.exitCode !== null)
      throw new Error(`expected a machine-server that captures, found exit code ${machine.exitCode}`);
    await sleep(100);
  }
  if (delayMs > 0) disk.set(paths.map((path) => ({ calls: ['fsync', 'fdatasync'], path, delayMs })));
  const kept = stack.move();
  return {
    /** Readings that the machine-server itself has told as missing for this reason. */
    gaps: (reason: GapReason): number => {
      const journal = join(home.path, 'gaps.jsonl');
      const lines = existsSync(journal) ? readFileSync(journal, 'utf8').split('\n') : [];
      const newest = new Map<string, { reason: number; readings: number }>();
      for (const line of lines) {
        const gap = jsonIn(line) as { id: string; reason: number; readings: number } | undefined;
        if (gap !== undefined) newest.set(gap.id, gap);
      }
      return [...newest.values()].reduce((sum, gap) => sum + (gap.reason === reason ? gap.readings : 0), 0);
    },
    peakMegabytes: (): number => {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      return Math.round(Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1_024);
    },
    cpuSeconds: (): number => cpuSeconds(pid),
    delayed: (): number => disk.affected()[0] ?? 0,
    /** When the readings on the disk were requested. */
    capturedAtMs: (): number[] =>
      filesOf(/\.(prog|capture)$/)
        .flatMap((name) => {
          const bytes = readFileSync(join(captures, name));
          return bytes.length === 0 ? [] : readCaptureFile(bytes).readings;
        })
        .flatMap((reading) => {
          const { metadata } = fromBinary(SensorDataSchema, reading);
          return metadata?.timeRequested === undefined ? [] : [timestampMs(metadata.timeRequested)];
        }),
    /** A stop waits for a slow disk, for a minute at most. */
    async stop() {
      machine.kill('SIGTERM');
      await ended;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/**
 * What the computer itself lets a collector take: a bare timer on the grid of a frequency, which does nothing with its ticks. Like a
 * collector, it makes up for 20 ms of a stall, and for one tick below 50 Hz.
 */
const madeUpMs = 20;

interface BareTicks {
  /** Share of the ticks that were taken, and the longest time between two. */
  stop(): { readonly percent: number; readonly longestMs: number };
}

function startBareTicks(hz: number): BareTicks {
  const periodMs = 1_000 / hz;
  const most = Math.max(1, Math.floor(madeUpMs / periodMs));
  const startedMs = performance.now();
  let [passed, taken, lastMs, longestMs] = [0, 0, startedMs, 0];
  const fire = (): void => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
    // A timer may fire up to a millisecond early.
    const due = Math.floor((nowMs - startedMs + 1) / periodMs) - passed;
    taken += Math.min(most, due);
    passed += due;
    timer = setTimeout(fire, Math.max(1, Math.ceil((passed + 1) * periodMs - (performance.now() - startedMs))));
  };
  let timer = setTimeout(fire, periodMs);
  return {
    stop() {
      clearTimeout(timer);
      return { percent: (taken / Math.max(1, passed)) * 100, longestMs };
    },
  };
}
