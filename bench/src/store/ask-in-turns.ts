/**
 * Four clients that run all queries in turns without a pause, each time in a different order. With the same order for all, the time of a
 * query would depend on what the others run at the same time.
 */
import { seededRandom } from '@platform/testkit';
import type { Asked } from './questions.ts';

const clients = 4;

/** Milliseconds by the name of the query. */
export type Latencies = ReadonlyMap<string, readonly number[]>;

export async function askInTurns(
  all: readonly Asked[],
  ask: (each: Asked) => Promise<unknown>,
  over: AbortSignal,
): Promise<{ readonly latencies: Latencies; readonly failures: number }> {
  const latencies = new Map(all.map(({ name }): [string, number[]] => [name, []]));
  let failures = 0;
  const client = async (number: number): Promise<void> => {
    const random = seededRandom(number);
    let turn: Asked[] = [];
    while (!over.aborted) {
      if (turn.length === 0) turn = [...all];
      const [each] = turn.splice(Math.floor(random() * turn.length), 1) as [Asked];
      const started = performance.now();
      try {
        await ask(each);
        latencies.get(each.name)?.push(performance.now() - started);
      } catch (caught) {
        failures++;
        console.error(`${each.name}: ${String(caught)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  return { latencies, failures };
}
