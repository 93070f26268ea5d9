/** $redact: an expression that decides for each document in a row. */

import { typeName } from '../bson/type.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../bson/value.ts';
import { compileExpression } from '../execute/expressions/expression.ts';
import { type Evaluate, enterRow, type Frame } from '../execute/expressions/scope.ts';
import type { Row, Rows } from '../execute/row.ts';
import { parseExpression } from '../mql/expression.ts';
import { literal } from '../plan/expr.ts';
import type { RedactStage } from '../plan/stage.ts';
import { QueryError } from '../query-error.ts';
import type { StageContext, StageDefinition } from './definition.ts';

export const redact: StageDefinition<RedactStage> = { mql: { $redact: parseRedact }, run: runRedact };

const decisions: readonly string[] = ['DESCEND', 'PRUNE', 'KEEP'];

function parseRedact(spec: BsonValue): RedactStage {
  const body = parseExpression(spec, '$redact', decisions);
  const args = decisions.map((name) => literal(name.toLowerCase()));
  return { k: 'redact', decide: { k: 'bind', fn: 'let', vars: decisions, args, body, at: '$redact' } };
}

async function* runRedact(stage: RedactStage, input: Rows, { frame }: StageContext): Rows {
  const decide = compileExpression(stage.decide, new Map([['ROOT', 0]]));
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
