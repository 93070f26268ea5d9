import { expect, test } from 'vitest';
import { leastPushedShare, runRounds } from '../testing/pushdown/run-rounds.ts';

test('I7 random queries give equal answers with push-down, without it and by the executor alone, within their scope', async () => {
  const result = await runRounds({ seed: 4, cases: 1_500 });
  expect(result.problems).toEqual([]);
  expect(result.asked).toBe(1_500);
  // Statements that the parser refuses are not the subject of this test.
  expect(result.refused).toBeLessThan(100);
  expect(result.pushable).toBeGreaterThan(500);
  expect(result.pushed / result.pushable).toBeGreaterThanOrEqual(leastPushedShare);
});
