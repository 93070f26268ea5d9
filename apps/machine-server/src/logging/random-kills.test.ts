/**
 * Random kills of a machine that logs and sends: at any time, every line that was logged more than a save interval before the kill is in
 * the cloud exactly once, or reported as dropped.
 */
import { appendFileSync, copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { PlatformError, silentLog } from '@platform/base';
import { FakeClock, temporaryDirectory } from '@platform/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LogShipper } from '../cloud-link/log-shipper.ts';
import { FakeLogCloud } from '../testing/fake-log-cloud.ts';
import { LogQueue, type LogQueueOptions } from './log-queue.ts';

/** What happens between two kills. */
type Event =
  | { readonly kind: 'log'; readonly lines: number }
  | { readonly kind: 'save' }
  | { readonly kind: 'wait'; readonly ms: number; readonly turns: number }
  | { readonly kind: 'cloud'; readonly mode: 'up' | 'down' | 'loses answers' };

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constant('log' as const), lines: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ kind: fc.constant('save' as const) }),
  fc.record({
    kind: fc.constant('wait' as const),
    ms: fc.integer({ min: 0, max: 2_500 }),
    turns: fc.integer({ min: 0, max: 6 }),
  }),
  fc.record({
    kind: fc.constant('cloud' as const),
    mode: fc.constantFrom('up' as const, 'down' as const, 'loses answers' as const),
  }),
);
const life = fc.record({
  events: fc.array(event, { minLength: 1, maxLength: 12 }),
  torn: fc.integer({ min: 0, max: 60 }),
});

type Bounds = Pick<LogQueueOptions, 'maxBytes' | 'segmentBytes' | 'memoryBytes'>;

class Machine {
  readonly clock: FakeClock = new FakeClock();
  readonly queue: LogQueue;
  readonly #shipper: LogShipper;
  isAlive = true;

  constructor(directory: string, cloud: FakeLogCloud, bounds: Bounds) {
    const { clock } = this;
    this.queue = new LogQueue({ directory, clock, onState: () => {}, ...bounds });
    const link = cloud.link(() => this.isAlive);
    this.#shipper = new LogShipper({ link, partId: 'p', queue: this.queue, clock, log: silentLog });
  }

  async start(): Promise<void> {
    await this.queue.start();
    this.#shipper.start();
  }

  log(message: string): void {
    this.queue.add({ timeMs: this.clock.now(), level: 'info', logger: 'a', message, fields: {} });
    this.#shipper.wake();
  }

  async save(): Promise<void> {
    await this.clock.advance(1_000);
    // Runs after the save in progress.
    await this.queue.done(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopping = this.#shipper[Symbol.asyncDispose]();
    await this.clock.advance(10_000);
    await stopping;
    await this.queue[Symbol.asyncDispose]();
  }
}

/** Copies the files as they are now; one that is being deleted or renamed is gone. @returns their names */
function snapshot(from: string, to: string): string[] {
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    try {
      copyFileSync(join(from, name), join(to, name));
    } catch (caught) {
      if ((caught as NodeJS.ErrnoException).code !== 'ENOENT') throw caught;
    }
  }
  return readdirSync(to);
}

interface Outcome {
  readonly cloud: FakeLogCloud;
  /** The number of logged lines, and the lines that must survive. */
  readonly logged: number;
  readonly due: ReadonlySet<string>;
  readonly reported: number;
}

async function run(
  lives: readonly { readonly events: readonly Event[]; readonly torn: number }[],
  bounds: Bounds,
): Promise<Outcome> {
  await using root = await temporaryDirectory();
  const cloud = new FakeLogCloud();
  const [killed, due, unsaved] = [[] as Machine[], new Set<string>(), new Set<string>()];
  let logged = 0;
  for (const [index, { events, torn }] of lives.entries()) {
    const directory = root.file(`${index}`);
    const machine = new Machine(directory, cloud, bounds);
    await machine.start();
    for (const each of events) {
      if (each.kind === 'log') {
        for (let n = 0; n < each.lines; n++) {
          const message = `line ${String(logged++).padStart(6, '0')}`;
          unsaved.add(message);
          machine.log(message);
        }
      } else if (each.kind === 'save') {
        await machine.save();
        for (const message of unsaved) due.add(message);
        unsaved.clear();
      } else if (each.kind === 'wait') {
        const waiting = machine.clock.advance(each.ms);
        for (let n = 0; n < each.turns; n++) await turn();
        if (each.turns % 2 === 0) await waiting;
        else killed.push(machine);
      } else {
        cloud.before = () => {
          if (each.mode === 'down') throw new PlatformError('unavailable', 'down');
        };
        cloud.after = () => {
          if (each.mode === 'loses answers') throw new PlatformError('unavailable', 'the answer is lost');
        };
      }
    }
    // The kill: the next start finds the current contents of the files.
    machine.isAlive = false;
    killed.push(machine);
    unsaved.clear();
    const next = root.file(`${index + 1}`);
    const segments = snapshot(directory, next).filter((name) => /^\d{16}\.log$/.test(name));
    const last = segments.toSorted().at(-1);
    if (last !== undefined && torn > 0)
      appendFileSync(join(next, last), '0badc0de [4294967299,1,"info"'.slice(0, torn));
  }
  cloud.before = () => {};
  cloud.after = () => {};
  const machine = new Machine(root.file(`${lives.length}`), cloud, bounds);
  await machine.start();
  machine.log('end');
  while (!cloud.stored.includes('end')) await machine.clock.advance(1_000);
  for (const each of [...new Set(killed), machine]) await each[Symbol.asyncDispose]();
  const reported = cloud.stored.reduce(
    (sum, message) => sum + Number(/^(\d+) lines? w\w+ dropped/.exec(message)?.[1] ?? 0),
    0,
  );
  return { cloud, logged, due, reported };
}

function expectOnceInOrder(outcome: Outcome): void {
  const lines = outcome.cloud.stored.filter((message) => message.startsWith('line '));
  expect(lines).toEqual([...new Set(lines)].toSorted());
}

test('after random kills, every line that was due is in the cloud exactly once and in order', async () => {
  const lives = fc.array(life, { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(lives, async (given) => {
      const outcome = await run(given, { maxBytes: 1_000_000, segmentBytes: 600 });
      expectOnceInOrder(outcome);
      const stored = new Set(outcome.cloud.stored);
      expect([...outcome.due].filter((message) => !stored.has(message))).toEqual([]);
      expect(outcome.reported).toBe(0);
    }),
    { numRuns: 15 },
  );
});

test('with a queue that overflows, every line is in the cloud exactly once and in order, or counted as dropped', async () => {
  const lives = fc.array(life, { minLength: 2, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(lives, async (given) => {
      const outcome = await run(given, { maxBytes: 1_500, segmentBytes: 400, memoryBytes: 800 });
      expectOnceInOrder(outcome);
      const stored = new Set(outcome.cloud.stored);
      const missing = [...outcome.due].filter((message) => !stored.has(message));
      expect(missing.length).toBeLessThanOrEqual(outcome.reported);
    }),
    { numRuns: 15 },
  );
});
