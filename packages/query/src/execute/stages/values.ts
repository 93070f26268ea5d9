/** Rows that are written in a statement. */

import { typeName } from '../../bson/type.ts';
import { BsonDocument } from '../../bson/value.ts';
import type { ValuesStage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import type { StageContext } from '../../stages/definition.ts';
import { compileExpression } from '../expressions/expression.ts';
import { enterRow } from '../expressions/scope.ts';
import type { Row, Rows } from '../row.ts';

export async function* runValues(stage: ValuesStage, _input: Rows, { budget, frame }: StageContext): Rows {
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
