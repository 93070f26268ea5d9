/** The rows of one plan, then those of another. */

import type { UnionStage } from '../../plan/stage.ts';
import type { StageContext } from '../../stages/definition.ts';
import type { Rows } from '../row.ts';

export async function* runUnion(stage: UnionStage, input: Rows, { runPlan }: StageContext): Rows {
  for await (const rows of input) yield rows.map(({ document }) => ({ document }));
  yield* runPlan(stage.right, 'whole');
}
