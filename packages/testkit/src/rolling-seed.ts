/** The seed of the random cases of a test: another one at each run, so that runs prove more than one run does. */
import { randomInt } from 'node:crypto';

/** Says the seed on standard output; FAULT_SEED of the environment sets it, which repeats a run. An unsigned number of 31 bits. */
export function rollingSeed(): number {
  const seed = Number(process.env['FAULT_SEED'] ?? randomInt(2 ** 31));
  console.log(`random cases of seed ${seed}; FAULT_SEED=${seed} repeats them`);
  return seed;
}
