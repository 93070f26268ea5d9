/** Four clients that ask all questions by turns without a pause, each beginning with another one. */
import type { Asked } from './questions.ts';

const clients = 4;

/** Milliseconds by the name of what was asked. */
export type Latencies = ReadonlyMap<string, readonly number[]>;

export async function askInTurns(
  all: readonly Asked[],
  ask: (each: Asked) => Promise<unknown>,
  over: AbortSignal,
): Promise<{ readonly latencies: Latencies; readonly failures: number }> {
  const latencies = new Map(all.map(({ name }): [string, number[]] => [name, []]));
  let failures = 0;
  const client = async (number: number): Promise<void> => {
    for (let turn = Math.floor((number * all.length) / clients); !over.aborted; turn++) {
      const each = all[turn % all.length] as Asked;
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
