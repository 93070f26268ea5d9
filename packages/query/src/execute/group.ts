/** $group: rows with equal keys fold into one. */

import { valueKey } from '../bson/key.ts';
import { BsonDocument, type Maybe } from '../bson/value.ts';
import { withGroupCode } from '../group-codes.ts';
import type { Stage } from '../plan/stage.ts';
import { compileInto } from './accumulators/compile-into.ts';
import type { Fold } from './accumulators/fold.ts';
import type { Budget } from './budget.ts';
import { compileExpression } from './expression.ts';
import type { Row } from './row.ts';
import { enterRow, newFrame } from './scope.ts';

interface Group {
  readonly key: Maybe;
  readonly folds: readonly Fold[];
}

export async function* runGroup(
  stage: Stage & { k: 'group' },
  input: AsyncIterable<Row[]>,
  budget: Budget,
): AsyncIterable<Row[]> {
  const frame = newFrame(budget.nowMs, () => budget.check());
  const keyOf = compileExpression(stage.key);
  const groups = new Map<string, Group>();
  const hold = (bytes: number): void => budget.hold(bytes, '$group');
  const into = compileInto(stage.into, budget, hold);
  for await (const rows of input) {
    try {
      for (const { document } of rows) {
        enterRow(frame, document);
        const key = keyOf(frame);
        const id = valueKey(key ?? null);
        let group = groups.get(id);
        if (group === undefined) {
          group = { key, folds: into.open(key) };
          groups.set(id, group);
          hold(200 + id.length * 2);
        }
        into.add(group.folds, frame, document);
      }
    } catch (error) {
      throw withGroupCode(error);
    }
  }
  if (groups.size === 0 && stage.always === true) {
    groups.set('', { key: null, folds: into.open(null) });
  }
  let chunk: Row[] = [];
  for (const { key, folds } of groups.values()) {
    const document = new BsonDocument([['_id', key ?? null]]);
    into.result(folds, document);
    if (chunk.push({ document }) === 1000) {
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length > 0) yield chunk;
}
