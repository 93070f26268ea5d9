/**
 * A process of many machines, each on a connection of its own: connects, signs in, then asks for configuration and restart mark
 * once a period, at its own moment of it. Open loop: a latency counts from the moment at which the poll was due.
 * Reports as JSON lines: `connected`; after a line on standard input measures and reports `done`.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetGeneratorOptions, FleetGeneratorResult } from '../fleet.ts';
import { inLanes } from '../in-lanes.ts';
import { machineCalls, signIn } from '../machine-calls.ts';
import { openUnarySession } from '../unary-session.ts';

const options = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as FleetGeneratorOptions;
const { url, parts, periodMs, seconds } = options;
const connecting = 50;
const tellErrors = 5;

const machines = await inLanes(connecting, parts.length, async (index) => {
  const part = parts[index];
  if (part === undefined) throw new Error('expected a part for each index');
  const session = await openUnarySession(url);
  return { session, token: await signIn(session, part), calls: machineCalls(part) };
});
const result = { latenciesMs: [] as number[], errors: 0, lateMs: 0 };
let measuring = false;
const ending = new AbortController();

const poll = async (machine: (typeof machines)[number], dueMs: number): Promise<void> => {
  const counts = measuring;
  const { session, token, calls } = machine;
  const timed = async (call: Promise<void>): Promise<void> => {
    try {
      await call;
      if (counts) result.latenciesMs.push(performance.now() - dueMs);
    } catch (caught) {
      // One that was cut by our own end is none.
      if (ending.signal.aborted) return;
      if (++result.errors <= tellErrors) process.stderr.write(`${String(caught)}\n`);
    }
  };
  await Promise.all([timed(calls.config(session, token)), timed(calls.needsRestart(session, token))]);
};

const startMs = performance.now();
const pollAll = async (): Promise<void> => {
  for (let turn = 0; !ending.signal.aborted; turn++) {
    const dueMs = startMs + (turn * periodMs) / machines.length;
    const waitMs = dueMs - performance.now();
    if (waitMs > 1) await sleep(waitMs);
    else if (measuring) result.lateMs = Math.max(result.lateMs, -waitMs);
    const machine = machines[turn % machines.length];
    if (machine !== undefined) void poll(machine, dueMs);
  }
};
const polling = pollAll();
process.stdout.write(`${JSON.stringify({ event: 'connected' })}\n`);
await once(process.stdin, 'data');
measuring = true;
await sleep(seconds * 1_000);
measuring = false;
// What is under way comes to its end.
await sleep(1_000);
ending.abort();
await polling;
const done: FleetGeneratorResult = result;
process.stdout.write(`${JSON.stringify({ event: 'done', ...done })}\n`, () => process.exit(0));
