/** Rows that are written in a statement. */

import { typeName } from '../bson/type.ts';
import { BsonDocument } from '../bson/value.ts';
import type { ValuesStage } from '../plan/combine.ts';
import { QueryError } from '../query-error.ts';
import type { Budget } from './budget.ts';
import { compileExpression } from './expression.ts';
import type { Row } from './row.ts';
import { enterRow, newFrame } from './scope.ts';

export async function* runValues(stage: ValuesStage, budget: Budget): AsyncIterable<Row[]> {
  const frame = newFrame(budget.nowMs, () => budget.check());
  const rows: Row[] = [];
  for (const row of stage.rows) {
    enterRow(frame, new BsonDocument());
    const document = compileExpression(row)(frame);
    if (!(document instanceof BsonDocument)) {
      throw new QueryError('TypeMismatch', `a row must be a document, found ${typeName(document)}`);
    }
    rows.push({ document });
  }
  await budget.pause();
  if (rows.length > 0) yield rows;
}
