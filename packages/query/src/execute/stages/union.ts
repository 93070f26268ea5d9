/** The rows of one plan, then those of another. */

import type { UnionStage } from '../../plan/combine.ts';
import type { Row } from '../row.ts';
import type { RunPlan } from '../run-plan.ts';

export async function* runUnion(stage: UnionStage, input: AsyncIterable<Row[]>, run: RunPlan): AsyncIterable<Row[]> {
  for await (const rows of input) yield rows.map(({ document }) => ({ document }));
  yield* run(stage.right, 'whole');
}
