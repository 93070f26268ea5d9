/** Joins hold the right rows. If the condition has equalities, rows are found by the values that must be equal. */
import { valueKey } from '../../bson/key.ts';
import { isNullish } from '../../bson/type.ts';
import { BsonDocument } from '../../bson/value.ts';
import type { Expr } from '../../plan/expr.ts';
import type { JoinStage, UnionStage } from '../../plan/stage.ts';
import type { StageContext } from '../../stages/definition.ts';
import { compileExpression } from '../expressions/expression.ts';
import { type Evaluate, enterRow, type Frame } from '../expressions/scope.ts';
import type { Budget } from '../limits/budget.ts';
import { sizeOf } from '../limits/size-limits.ts';
import type { Row, Rows } from '../row.ts';

const chunkRows = 1000;
/** Pairs between two checks of the clock. */
const pairsBetweenChecks = 10_000;

export async function* runJoin(stage: JoinStage, input: Rows, { budget, frame, runPlan }: StageContext): Rows {
  const right = await gathered(stage, runPlan(stage.right), budget, frame);
  const leftKey = keyOf(stage.equal.map(([left]) => left));
  const on = stage.on === undefined ? undefined : compileExpression(stage.on);
  const holds = (document: BsonDocument): boolean => {
    if (on === undefined) return true;
    enterRow(frame, document);
    return on(frame) === true;
  };
  let chunk: Row[] = [];
  let pairs = 0;
  for await (const rows of input) {
    for (const { document: left } of rows) {
      enterRow(frame, left);
      const key = leftKey(frame);
      let paired = false;
      for (const other of key === undefined ? [] : (right.get(key) ?? [])) {
        if (++pairs % pairsBetweenChecks === 0) await budget.pause();
        const document = new BsonDocument([...left, ...other]);
        if (!holds(document)) continue;
        paired = true;
        if (chunk.push({ document }) < chunkRows) continue;
        yield chunk;
        chunk = [];
      }
      if (!paired && stage.how === 'left') chunk.push({ document: left });
    }
    await budget.pause();
    if (chunk.length > 0) yield chunk;
    chunk = [];
  }
}

async function gathered(
  stage: JoinStage,
  rows: Rows,
  budget: Budget,
  frame: Frame,
): Promise<ReadonlyMap<string, readonly BsonDocument[]>> {
  const key = keyOf(stage.equal.map(([, right]) => right));
  const found = new Map<string, BsonDocument[]>();
  for await (const chunk of rows) {
    for (const { document } of chunk) {
      enterRow(frame, document);
      const id = key(frame);
      if (id === undefined) continue;
      budget.hold(sizeOf(document) + 48, 'JOIN');
      const same = found.get(id);
      if (same !== undefined) same.push(document);
      else {
        budget.hold(64 + 2 * id.length, 'JOIN');
        found.set(id, [document]);
      }
    }
    await budget.pause();
  }
  return found;
}

/** One text for all values that compare as equal; undefined if one of them is null, which equals nothing. */
function keyOf(values: readonly Expr[]): (frame: Frame) => string | undefined {
  const evaluated: readonly Evaluate[] = values.map((value) => compileExpression(value));
  return (frame) => {
    let key = '';
    for (const evaluate of evaluated) {
      const value = evaluate(frame);
      if (isNullish(value)) return undefined;
      key += valueKey(value);
    }
    return key;
  };
}

/** The rows of one plan, then those of another. */
export async function* runUnion(stage: UnionStage, input: Rows, { runPlan }: StageContext): Rows {
  for await (const rows of input) yield rows.map(({ document }) => ({ document }));
  yield* runPlan(stage.right, 'whole');
}
