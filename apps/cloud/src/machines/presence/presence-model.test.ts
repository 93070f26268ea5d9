/** The rules of D17 as a model, for three parts, in seconds, with a cloud that is stopped, suspended and killed. */
import { silentLog } from '@platform/base';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openFirstAccount } from '../../accounts/testing/open-first-account.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { openPresence, type Presence } from './presence.ts';
import { enqueued, notifying, settled } from './testing/notified-transitions.ts';

type Command =
  | { readonly kind: 'contact'; readonly part: number }
  | { readonly kind: 'pass'; readonly seconds: number }
  | { readonly kind: 'stopped' | 'suspended'; readonly seconds: number }
  | { readonly kind: 'kill'; readonly when: 'idle' | 'before commit' | 'after commit'; readonly seconds: number };

const seconds = fc.oneof(fc.integer({ min: 6, max: 70 }), fc.constantFrom(59, 60, 61, 600));
const commands: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('contact' as const), part: fc.nat(2) }) },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 70 }) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('stopped' as const, 'suspended' as const), seconds }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('kill' as const),
        when: fc.constantFrom('idle' as const, 'before commit' as const, 'after commit' as const),
        seconds,
      }),
    },
  ),
  { minLength: 5, maxLength: 40 },
);

class Model {
  readonly expected: string[] = [];
  readonly numbers = [0, 0, 0];
  #silent = [0, 0, 0];
  #arrived = new Set<number>();

  contact(part: number): void {
    this.#silent[part] = 0;
    if (this.#even(part)) this.#arrived.add(part);
  }

  second(): void {
    this.#silent = this.#silent.map((silent) => silent + 1);
  }

  paused(seconds: number): void {
    if (seconds >= 20) this.#silent = [0, 0, 0];
  }

  restarted(): void {
    this.#silent = [0, 0, 0];
    this.#arrived.clear();
  }

  /** Makes the transitions that are due, unless the process dies first. */
  judge(run: string, atMs: number, recorded: boolean): void {
    for (const part of [0, 1, 2]) {
      const due = this.#even(part) ? this.#arrived.has(part) : (this.#silent[part] ?? 0) >= 60;
      if (!due || !recorded) continue;
      this.expected.push(`${run}-${part} ${this.#even(part) ? 'part_online' : 'part_offline'} ${atMs}`);
      this.numbers[part] = (this.numbers[part] ?? 0) + 1;
      this.#arrived.delete(part);
    }
  }

  #even(part: number): boolean {
    return (this.numbers[part] ?? 0) % 2 === 0;
  }
}

test('D17 in all cases each transition is recorded and notified exactly once, and down time is never counted', async () => {
  const { db } = await openFirstAccount();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(commands, async (all) => {
      const run = `run${++runs}`;
      const clock = new ManualClock();
      const model = new Model();
      const notify = notifying(() => clock.now());
      let dies: 'before commit' | 'after commit' | null = null;
      const death = new Error('killed');
      const open = (): Promise<Presence> =>
        openPresence({
          db,
          clock,
          log: silentLog,
          exists: (partId) => partId.startsWith(`${run}-`),
          onTransitions: async (transitions) => {
            const effects = await notify(transitions);
            return {
              async record(trx) {
                await effects.record(trx);
                if (dies === 'before commit') throw death;
              },
              committed() {
                if (dies === 'after commit') throw death;
              },
            };
          },
        });
      let presence = await open();
      for (const command of all) {
        if (command.kind === 'contact') {
          presence.saw(`${run}-${command.part}`);
          model.contact(command.part);
        } else if (command.kind === 'pass') {
          for (let second = 0; second < command.seconds; second++) {
            clock.pass(1_000);
            model.second();
            model.judge(run, clock.now(), true);
            await settled(presence);
          }
        } else if (command.kind === 'kill') {
          dies = command.when === 'idle' ? null : command.when;
          if (dies !== null) {
            model.judge(run, clock.now(), dies === 'after commit');
            await settled(presence).catch((caught: unknown) => expect(caught).toBe(death));
          }
          dies = null;
          clock.pass(command.seconds * 1_000);
          clock.monotonicMs = 0;
          presence = await open();
          model.restarted();
        } else {
          if (command.kind === 'stopped') clock.pass(command.seconds * 1_000);
          else clock.wallMs += command.seconds * 1_000;
          model.paused(command.seconds);
          model.judge(run, clock.now(), true);
          await settled(presence);
        }
      }
      const rows = await db.selectFrom('part_presence').selectAll().where('part_id', '>', `${run}-`).execute();
      const numbers = [0, 1, 2].map((part) => rows.find((row) => row.part_id === `${run}-${part}`)?.number ?? 0);
      expect(numbers).toEqual(model.numbers);
      expect((await enqueued(db)).filter((line) => line.startsWith(`${run}-`))).toEqual(model.expected.toSorted());
      // Delete this run's rows, so that they do not affect the next run.
      await db.deleteFrom('part_presence').execute();
    }),
    { numRuns: 150 },
  );
});
