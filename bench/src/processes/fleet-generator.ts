/**
 * A process with many machines, each on its own connection. Each connects, signs in, then asks for configuration and restart mark once per
 * period, at its own offset with some jitter. Open loop: a latency counts from when the poll was due, and a call without an answer is an
 * error that has waited until the end. Reports as JSON lines: `connected`; after a line on standard input it measures and reports `done`.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openUnarySession } from '../cloud/unary-session.ts';
import { mapConcurrently } from '../figures/map-concurrently.ts';
import type { FleetGeneratorOptions, FleetGeneratorResult } from '../fleet/fleet.ts';
import { machineCalls, signIn } from '../fleet/machine-calls.ts';

const options = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as FleetGeneratorOptions;
const { url, parts, periodMs, seconds } = options;
/** All generators together stay below the silent connections that a server allows one address (32). */
const connecting = 8;
const tellErrors = 5;
/** Share of the period by which a poll may deviate from its regular time. */
const jitter = 0.05;
/** How long to wait for answers after the measured time. */
const graceMs = 5_000;

const machines = await mapConcurrently(connecting, parts.length, async (index) => {
  const part = parts[index];
  if (part === undefined) throw new Error('expected a part for each index');
  const session = await openUnarySession(url);
  return { session, token: await signIn(session, part), calls: machineCalls(part) };
});

const latenciesMs: number[] = [];
let errors = 0;
let lateMs = 0;
/** Due times of the calls without an answer. */
const waiting = new Map<object, number>();
let measuredFromMs = Number.POSITIVE_INFINITY;
let measuredToMs = Number.POSITIVE_INFINITY;
let ended = false;

const timed = (call: Promise<unknown>, dueMs: number): void => {
  const counts = dueMs >= measuredFromMs && dueMs < measuredToMs;
  const id = {};
  if (counts) waiting.set(id, dueMs);
  const settle = (caught?: unknown): void => {
    if (ended) return;
    if (caught !== undefined && ++errors <= tellErrors) process.stderr.write(`${String(caught)}\n`);
    if (waiting.delete(id)) latenciesMs.push(performance.now() - dueMs);
  };
  call.then(() => settle(), settle);
};

const startMs = performance.now();
const pollAll = async (): Promise<void> => {
  for (let turn = 0; !ended; turn++) {
    const due = machines
      .map((machine, index) => {
        // Below 1: otherwise the last poll of a turn would delay the first of the next.
        const place = (1 - jitter) * (index / machines.length) + jitter * Math.random();
        return { machine, dueMs: startMs + (turn + place) * periodMs };
      })
      .sort((a, b) => a.dueMs - b.dueMs);
    for (const { machine, dueMs } of due) {
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      if (ended) return;
      if (dueMs >= measuredFromMs && dueMs < measuredToMs) lateMs = Math.max(lateMs, performance.now() - dueMs);
      const { session, token, calls } = machine;
      timed(calls.config(session, token), dueMs);
      timed(calls.needsRestart(session, token), dueMs);
    }
  }
};
const polling = pollAll();
process.stdout.write(`${JSON.stringify({ event: 'connected' })}\n`);
await once(process.stdin, 'data');
measuredFromMs = performance.now();
measuredToMs = measuredFromMs + seconds * 1_000;
const cpuBefore = process.cpuUsage();
await sleep(seconds * 1_000);
const cpu = process.cpuUsage(cpuBefore);
for (const from = performance.now(); waiting.size > 0 && performance.now() - from < graceMs; ) await sleep(50);
ended = true;
const cores = (cpu.user + cpu.system) / 1e6 / seconds;
const unanswered = waiting.size;
for (const dueMs of waiting.values()) latenciesMs.push(performance.now() - dueMs);
const done: FleetGeneratorResult = { latenciesMs, errors: errors + unanswered, unanswered, lateMs, cores };
process.stdout.write(`${JSON.stringify({ event: 'done', ...done })}\n`, () => process.exit(0));
await polling;
