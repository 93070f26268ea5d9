/** Subqueries: each runs once for each combination of values that it takes from the row. */

import { valueKey } from '../../bson/key.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import { substituteVariables } from '../../plan/rewrite/substitute-variables.ts';
import type { LookupStage } from '../../plan/stage.ts';
import type { StageContext } from '../../stages/definition.ts';
import { compileExpression } from '../expressions/expression.ts';
import { enterRow } from '../expressions/scope.ts';
import type { Budget } from '../limits/budget.ts';
import { sizeOf } from '../limits/size-limits.ts';
import type { Row, Rows } from '../row.ts';

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
