/** $redact: what of a row may be seen is decided document by document, from the outside in. */

import { typeName } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import type { Stage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import { compileExpression } from '../expressions/expression.ts';
import { type Evaluate, enterRow, type Frame, newFrame } from '../expressions/scope.ts';
import type { Budget } from '../limits/budget.ts';
import type { Row } from '../row.ts';

export async function* runRedact(
  stage: Stage & { k: 'redact' },
  input: AsyncIterable<Row[]>,
  budget: Budget,
): AsyncIterable<Row[]> {
  const decide = compileExpression(stage.decide, new Map([['ROOT', 0]]));
  const frame = newFrame(budget.nowMs, () => budget.check());
  for await (const rows of input) {
    const kept: Row[] = [];
    for (const row of rows) {
      frame.slots[0] = row.document;
      const { near } = row;
      enterRow(frame, row.document, near);
      const document = redacted(row.document, decide, frame);
      if (document !== undefined) kept.push(near === undefined ? { document } : { document, near });
    }
    if (kept.length > 0) yield kept;
  }
}

function redacted(document: BsonDocument, decide: Evaluate, frame: Frame): BsonDocument | undefined {
  frame.root = document;
  const decision = decide(frame);
  if (decision === 'keep') return document;
  if (decision === 'prune') return undefined;
  if (decision !== 'descend') {
    throw new QueryError(17053, `$redact takes $$KEEP, $$PRUNE or $$DESCEND, found ${typeName(decision)}`);
  }
  const seen = new BsonDocument();
  for (const [name, value] of document) {
    const below = redactedValue(value, decide, frame);
    if (below !== undefined) seen.set(name, below);
  }
  return seen;
}

function redactedValue(value: BsonValue, decide: Evaluate, frame: Frame): Maybe {
  if (value instanceof BsonDocument) return redacted(value, decide, frame);
  if (!Array.isArray(value)) return value;
  return value.map((item) => redactedValue(item, decide, frame)).filter((item) => item !== undefined);
}
