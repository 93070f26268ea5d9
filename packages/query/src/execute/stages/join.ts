/** Joins hold the right rows. If the condition has equalities, rows are found by the values that must be equal. */
import { valueKey } from '../../bson/key.ts';
import { isNullish } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import type { Expr } from '../../plan/expr.ts';
import { substituteVariables } from '../../plan/rewrite/substitute-variables.ts';
import type { JoinStage, LookupStage, UnionStage } from '../../plan/stage.ts';
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

/** Subqueries: each runs once for each combination of values that it takes from the row. */
export async function* runLookup(stage: LookupStage, input: Rows, { budget, frame, runPlan }: StageContext): Rows {
  const variables = stage.let.map(([name, value]) => [name, compileExpression(value)] as const);
  const answers = new Map<string, Maybe>();
  for await (const rows of input) {
    const found: Row[] = [];
    for (const { document } of rows) {
      enterRow(frame, document);
      const values = new Map(variables.map(([name, evaluate]) => [name, evaluate(frame)]));
      const key = [...values.values()].map(exactKey).join('');
      if (!answers.has(key)) {
        const answer = await answered(stage, runPlan(substituteVariables(stage.right, values)), budget);
        budget.hold(64 + 2 * key.length + sizeOf(answer), 'a subquery');
        answers.set(key, answer);
      }
      const answer = answers.get(key);
      const extended = new BsonDocument(document);
      if (answer !== undefined) extended.set(stage.as, answer);
      found.push({ document: extended });
    }
    await budget.pause();
    yield found;
  }
}

/** Numbers of different types are equal, but a subquery may distinguish them. */
function exactKey(value: Maybe): string {
  const type = typeof value === 'object' && value !== null ? value.constructor.name : typeof value;
  return `${type}${value instanceof BsonDocument || Array.isArray(value) ? shape(value) : ''}${valueKey(value)}`;
}

function shape(value: BsonDocument | BsonValue[]): string {
  const items = Array.isArray(value) ? value : [...value.values()];
  return `[${items.map(exactKey).join()}]`;
}

async function answered(stage: LookupStage, rows: Rows, budget: Budget): Promise<Maybe> {
  const values: BsonValue[] = [];
  for await (const chunk of rows) {
    for (const { document } of chunk) {
      if (stage.gives === 'exists') return true;
      if (stage.gives === 'value') return document.get('v');
      const value = document.get('v') ?? null;
      budget.hold(sizeOf(value) + 8, 'a subquery');
      values.push(value);
    }
  }
  budget.release(values.reduce((sum: number, value) => sum + sizeOf(value) + 8, 0));
  if (stage.gives === 'exists') return false;
  return stage.gives === 'value' ? undefined : values;
}
