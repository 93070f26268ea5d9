/** $group and the merge of partial groups. */

import type { BsonDocument } from '../../bson/value.ts';
import { withGroupCode } from '../../group-codes.ts';
import { field } from '../../plan/expr.ts';
import type { GroupStage, MergeStage } from '../../plan/stage.ts';
import type { StageContext } from '../../stages/definition.ts';
import { enterRow } from '../expressions/scope.ts';
import { Budget } from '../limits/budget.ts';
import type { Row, Rows } from '../row.ts';
import { GroupTable } from './group-table.ts';

/** $group: folds rows with equal keys into one. */
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

export interface Chunk {
  readonly rows: Row[];
  /** Whether the rows are partial groups. Otherwise they still have to be folded. */
  readonly done: boolean;
}

/** Merges partial groups into whole ones, in the order of their keys. */
export function runMerge({ accumulators }: MergeStage, input: Rows, context: StageContext): Rows {
  return mergeGroups({ k: 'group', key: field('_id'), accumulators }, done(input), context);
}

/** Merges partial groups of the same stage into fewer, which are partial again. @throws QueryError when they need too much memory */
export function mergePartials({ key, accumulators }: GroupStage, partials: Iterable<BsonDocument>): BsonDocument[] {
  const table = new GroupTable(key, accumulators, new Budget({}));
  for (const partial of partials) table.merge(partial);
  return Array.from(table.partial()).flatMap((rows) => rows.map(({ document }) => document));
}

async function* done(input: Rows): AsyncIterable<Chunk> {
  for await (const rows of input) yield { rows, done: true };
}

/** @param group folds the rows that are not partial groups yet. */
export async function* mergeGroups(
  group: GroupStage,
  input: AsyncIterable<Chunk>,
  { budget, frame }: Pick<StageContext, 'budget' | 'frame'>,
): Rows {
  const table = new GroupTable(group.key, group.accumulators, budget);
  for await (const { rows, done: arePartial } of input) {
    try {
      for (const { document } of rows) {
        enterRow(frame, document);
        if (arePartial) table.merge(document);
        else table.add(frame, document);
      }
    } catch (error) {
      throw withGroupCode(error);
    }
  }
  yield* table.sorted();
}
