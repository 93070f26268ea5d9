import { rollingSeed } from '@platform/testkit';
import { expect, test } from 'vitest';
import { leastPushedShare, type RoundsOptions, runRounds } from '../testing/pushdown/run-rounds.ts';

async function ask(options: Pick<RoundsOptions, 'seed' | 'cases'>): ReturnType<typeof runRounds> {
  const result = await runRounds(options);
  expect(result.problems, `npm run fuzz:queries -- --seed ${options.seed} --cases ${options.cases}`).toEqual([]);
  expect(result.asked).toBe(options.cases);
  return result;
}

test('I7 random queries give equal answers with push-down, without it and by the executor alone, within their scope', async () => {
  const { refused, pushable, pushed } = await ask({ seed: 4, cases: 60 });
  // Statements that the parser refuses are not the subject of this test.
  expect(refused).toBeLessThan(6);
  expect(pushable).toBeGreaterThan(20);
  expect(pushed / pushable).toBeGreaterThanOrEqual(leastPushedShare);
  // Others at each run.
  await ask({ seed: rollingSeed(), cases: 90 });
});
