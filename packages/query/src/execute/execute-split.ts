/** Runs both halves of a split plan (plan/rewrite/split-plan.ts) within one budget. */

import type { Batch } from '../bson/batch.ts';
import { fieldsRead } from '../plan/fields-read.ts';
import type { GroupStage, MergeStage, Stage } from '../plan/stage.ts';
import type { StageContext } from '../stages/definition.ts';
import { engineLimitError, Origin } from './error-stage.ts';
import { execute } from './execute.ts';
import { compileFilters } from './expressions/compile-filters.ts';
import { type Frame, newFrame } from './expressions/scope.ts';
import { Budget, type Limits } from './limits/budget.ts';
import { rowReader } from './read-rows.ts';
import type { Row, Rows } from './row.ts';
import { runStages } from './run-stages.ts';
import { type Chunk, mergeGroups } from './stages/group.ts';
import { compileRowMap } from './stages/map-rows.ts';
import { writeBatches } from './write-batches.ts';

export interface SourceBatch {
  readonly batch: Batch;
  /** Whether the rows already passed `pre` where they were read. */
  readonly done: boolean;
}

type Input = AsyncIterable<SourceBatch> | Iterable<SourceBatch>;

/**
 * @param pre filters, and at most one stage after them: a group that is `partial`, a sort, or one that makes one new row from each row.
 * @param post the rest: after such a group a `merge`, after such a sort the same sort.
 * @param input the rows of all sources, in the order of the sources.
 * @throws QueryError while iterating, as `execute`.
 */
export async function* executeSplit(
  pre: readonly Stage[],
  post: readonly Stage[],
  input: Input,
  limits: Limits = {},
): AsyncGenerator<Batch, void, undefined> {
  if (pre.length === 0) return yield* execute(post, batchesOf(input), limits);
  const budget = new Budget(limits);
  try {
    const open = (source: string): AsyncIterable<Batch> | Iterable<Batch> => budget.open(source);
    const readRaw = rowReader(fieldsRead([...pre, ...post]), budget);
    const readDone = rowReader(fieldsRead(post), budget);
    const frame = newFrame(budget.nowMs, () => budget.check());
    const pass = compilePass(pre, frame);
    const [first, ...rest] = post;
    const end = pre.at(-1);
    const chunks = readChunks(input, readRaw, readDone, pass);
    const rows =
      first?.k === 'merge' && end?.k === 'group'
        ? runStages(rest, merged(first, end, chunks, { budget, frame }), budget, open)
        : runStages(post, rowsOf(chunks), budget, open);
    yield* writeBatches(rows, budget, limits);
  } catch (caught) {
    throw engineLimitError(caught);
  }
}

type Pass = (rows: Row[]) => Iterable<Row[]>;

/** Applies `pre` to rows. If it ends with a group or a sort, the start of `post` does that step, on the rows themselves. */
function compilePass(pre: readonly Stage[], frame: Frame): Pass {
  const keep = compileFilters(
    pre.filter((stage) => stage.k === 'filter'),
    frame,
  );
  const end = pre.at(-1);
  if (end?.k !== 'shape' && end?.k !== 'replace') return (rows) => [keep(rows)];
  const map = compileRowMap(end, frame);
  return (rows) => map(keep(rows));
}

/** Errors of the chunks do not belong to the groups, unless their filters gave them a position. */
function merged(
  stage: MergeStage,
  group: GroupStage,
  chunks: AsyncIterable<Chunk>,
  context: Pick<StageContext, 'budget' | 'frame'>,
): Rows {
  const origin = new Origin();
  return origin.through(stage, mergeGroups(group, origin.rows(chunks), context));
}

async function* batchesOf(input: Input): AsyncGenerator<Batch> {
  for await (const { batch } of input) yield batch;
}

type Read = ReturnType<typeof rowReader>;

async function* readChunks(input: Input, readRaw: Read, readDone: Read, pass: Pass): AsyncIterable<Chunk> {
  for await (const { batch, done } of input) {
    for await (const rows of done ? readDone(batch) : readRaw(batch))
      for (const kept of done ? [rows] : pass(rows)) if (kept.length > 0) yield { rows: kept, done };
  }
}

async function* rowsOf(chunks: AsyncIterable<Chunk>): Rows {
  for await (const { rows } of chunks) yield rows;
}
