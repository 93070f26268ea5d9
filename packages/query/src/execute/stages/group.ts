/** $group: folds rows with equal keys into one. */

import { withGroupCode } from '../../group-codes.ts';
import type { GroupStage } from '../../plan/stage.ts';
import type { StageContext } from '../../stages/definition.ts';
import { enterRow } from '../expressions/scope.ts';
import type { Rows } from '../row.ts';
import { GroupTable } from './group-table.ts';

export async function* runGroup(stage: GroupStage, input: Rows, { budget, frame }: StageContext): Rows {
  const table = new GroupTable(stage.key, stage.accumulators, budget);
  for await (const rows of input) {
    try {
      for (const { document, near } of rows) {
        enterRow(frame, document, near);
        table.add(frame, document);
      }
    } catch (error) {
      throw withGroupCode(error);
    }
  }
  yield* stage.partial === true ? table.partial() : table.whole();
}
