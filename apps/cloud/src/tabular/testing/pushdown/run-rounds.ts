/** Runs rounds of queries until there are enough cases. */
import { type RoundResult, runRound } from './run-round.ts';

export const leastPushedShare = 0.8;

/** Number of queries per world. */
const roundCases = 500;
const maxProblems = 20;

export interface RoundsOptions {
  readonly seed: number;
  readonly cases: number;
  /** Runs only this round, or only this case in it. */
  readonly round?: number | undefined;
  readonly only?: number | undefined;
  readonly onProblem?: (problem: string) => void;
  readonly onRound?: (soFar: RoundResult) => void;
}

export async function runRounds(options: RoundsOptions): Promise<RoundResult> {
  const { seed, cases, round, only, onProblem, onRound } = options;
  let total: RoundResult = { asked: 0, refused: 0, pushable: 0, pushed: 0, unpushed: [], problems: [] };
  for (let number = round ?? 0; total.asked < cases && total.problems.length < maxProblems; number++) {
    const result = await runRound({ seed, number, cases: Math.min(roundCases, cases - total.asked), only });
    for (const problem of result.problems) onProblem?.(problem);
    total = {
      asked: total.asked + result.asked,
      refused: total.refused + result.refused,
      pushable: total.pushable + result.pushable,
      pushed: total.pushed + result.pushed,
      unpushed: [...total.unpushed, ...result.unpushed].slice(0, 1_000),
      problems: [...total.problems, ...result.problems],
    };
    onRound?.(total);
    if (round !== undefined) break;
  }
  return total;
}
