/** Partial groups become whole ones, in the order of their keys. */

import { withGroupCode } from '../../group-codes.ts';
import type { GroupStage, MergeStage } from '../../plan/stage.ts';
import { enterRow, newFrame } from '../expressions/scope.ts';
import type { Budget } from '../limits/budget.ts';
import type { Row } from '../row.ts';
import { GroupTable } from './group-table.ts';

export interface Chunk {
  readonly rows: Row[];
  /** They are partial groups; else rows that are still to be folded. */
  readonly done: boolean;
}

export function runMerge(stage: MergeStage, input: AsyncIterable<Row[]>, budget: Budget): AsyncIterable<Row[]> {
  return mergeGroups(
    { k: 'group', key: { k: 'field', path: ['_id'] }, accumulators: stage.accumulators },
    done(input),
    budget,
  );
}

async function* done(input: AsyncIterable<Row[]>): AsyncIterable<Chunk> {
  for await (const rows of input) yield { rows, done: true };
}

/** @param group what rows go through that are no partial groups yet. */
export async function* mergeGroups(
  group: GroupStage,
  input: AsyncIterable<Chunk>,
  budget: Budget,
): AsyncIterable<Row[]> {
  const frame = newFrame(budget.nowMs, () => budget.check());
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
