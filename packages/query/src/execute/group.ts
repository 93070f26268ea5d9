/** $group: rows with equal keys fold into one. */

import { valueKey } from '../bson/key.ts';
import { BsonDocument, type Maybe } from '../bson/value.ts';
import type { Accumulator, Stage } from '../plan/stage.ts';
import { accumulators, type Fold } from './accumulators.ts';
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
  const frame = newFrame(budget.nowMs);
  const keyOf = compileExpression(stage.key);
  const args = stage.into.map(([, accumulator]) => compileExpression(accumulator.arg));
  const groups = new Map<string, Group>();
  const hold = (bytes: number): void => budget.hold(bytes, '$group');
  for await (const rows of input) {
    for (const { document } of rows) {
      enterRow(frame, document);
      const key = keyOf(frame);
      const id = valueKey(key ?? null);
      let group = groups.get(id);
      if (group === undefined) {
        group = { key, folds: stage.into.map(([, accumulator]) => newFold(accumulator, hold)) };
        groups.set(id, group);
        hold(200 + id.length * 2 + 120 * args.length);
      }
      for (let index = 0; index < args.length; index++) group.folds[index]!.add(args[index]!(frame));
    }
  }
  if (groups.size === 0 && stage.always === true) {
    groups.set('', { key: null, folds: stage.into.map(([, accumulator]) => newFold(accumulator, hold)) });
  }
  let chunk: Row[] = [];
  for (const { key, folds } of groups.values()) {
    const document = new BsonDocument([['_id', key ?? null]]);
    for (const [index, [name]] of stage.into.entries()) document.set(name, folds[index]!.result());
    if (chunk.push({ document }) === 1000) {
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length > 0) yield chunk;
}

function newFold(accumulator: Accumulator, hold: (bytes: number) => void): Fold {
  const fold = accumulators[accumulator.fn](hold);
  if (accumulator.distinct !== true) return fold;
  const seen = new Set<string>();
  return {
    add(value) {
      const id = valueKey(value);
      if (seen.has(id)) return;
      seen.add(id);
      hold(48 + id.length);
      fold.add(value);
    },
    result: fold.result,
  };
}
