/** $setWindowFields: holds rows in the order of partition and sort keys, and adds the results of its window functions to each. */

import { compareValues } from '../../bson/compare.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import type { Path } from '../../plan/expr.ts';
import type { WindowStage } from '../../plan/window.ts';
import { QueryError } from '../../query-error.ts';
import type { StageContext } from '../../stages/definition.ts';
import { startWindow } from '../../window-functions/registry.ts';
import { compileExpression } from '../expressions/expression.ts';
import { enterRow } from '../expressions/scope.ts';
import { sizeOf, withinSizeLimits } from '../limits/size-limits.ts';
import type { Row, Rows } from '../row.ts';
import { compareKeys, sortKeysOf } from '../stages/sort-keys.ts';
import type { Partition, Workspace } from './partition.ts';

const stageName = '$setWindowFields';

interface Held {
  readonly document: BsonDocument;
  readonly near?: BsonDocument;
  readonly partition: BsonValue;
  readonly keys: readonly BsonValue[];
  readonly order: number;
}

const chunkRows = 1000;
const chunkBytes = 8 * 1024 * 1024;
/** Steps of work between two pauses. */
const turnSteps = 4096;

export async function* runWindow(stage: WindowStage, input: Rows, context: StageContext): Rows {
  const { budget, frame } = context;
  let steps = 0;
  let kept = 0;
  const workspace: Workspace = {
    frame,
    budget,
    hold: (bytes) => {
      kept += bytes;
      budget.hold(bytes, stageName);
    },
    worked: (more) => {
      steps += more;
    },
  };
  const starts = stage.output.map(([path, fn]) => [path, startWindow(fn, workspace)] as const);
  const rows = await gather(stage, input, context);
  for (let from = 0; from < rows.length; ) {
    const partition = partitionFrom(rows, from, stage);
    const walks = starts.map(([path, begin]) => [path, begin(partition)] as const);
    let chunk: Row[] = [];
    let bytes = 0;
    for (let index = 0; index < partition.documents.length; index++) {
      const values = walks.map(([path, walk]) => [path, inOutput(stage, path, () => walk(index))] as const);
      let document = partition.documents[index]!;
      for (const [path, value] of values) document = withValue(document, path, 0, value);
      enterRow(frame, undefined);
      const { near } = rows[from + index]!;
      chunk.push({ document: withinSizeLimits(frame, document), ...(near && { near }) });
      bytes += frame.builtBytes;
      if (++steps >= turnSteps) {
        steps = 0;
        await budget.pause();
      }
      if (chunk.length < chunkRows && bytes < chunkBytes) continue;
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    if (chunk.length > 0) yield chunk;
    budget.release(kept);
    kept = 0;
    from += partition.documents.length;
  }
}

/** @throws what the function throws, with the output field if the error named no position */
function inOutput(stage: WindowStage, path: Path, walk: () => Maybe): Maybe {
  try {
    return walk();
  } catch (error) {
    const isOfValue = error instanceof QueryError && error.status === 'invalid_argument' && error.path === undefined;
    if (!isOfValue) throw error;
    throw error.at({ path: `${stage.at?.stageName ?? stageName}.output.${path.join('.')}` });
  }
}

async function gather(stage: WindowStage, input: Rows, { budget, frame }: StageContext): Promise<readonly Held[]> {
  const partitionOf = stage.partitionBy === undefined ? undefined : compileExpression(stage.partitionBy);
  const rows: Held[] = [];
  for await (const chunk of input) {
    for (const { document, near } of chunk) {
      enterRow(frame, document, near);
      const partition = partitionOf?.(frame) ?? null;
      if (Array.isArray(partition)) {
        throw new QueryError('TypeMismatch', 'an expression used to partition must not give an array');
      }
      budget.hold(sizeOf(document) + 96 + 48 * stage.by.length, stageName);
      rows.push({
        document,
        ...(near && { near }),
        partition,
        keys: sortKeysOf(document, stage.by),
        order: rows.length,
      });
    }
    await budget.pause();
  }
  return rows.sort(
    (left, right) =>
      compareValues(left.partition, right.partition) ||
      compareKeys(left.keys, right.keys, stage.by) ||
      left.order - right.order,
  );
}

function partitionFrom(rows: readonly Held[], from: number, stage: WindowStage): Partition {
  const documents: BsonDocument[] = [];
  const keys: (readonly BsonValue[])[] = [];
  const first = rows[from]!;
  for (let at = from; at < rows.length; at++) {
    const row = rows[at]!;
    if (compareValues(row.partition, first.partition) !== 0) break;
    documents.push(row.document);
    keys.push(row.keys);
  }
  return { documents, keys, by: stage.by };
}

/** As $addFields sets it: below an array, in each element. */
function withValue(document: BsonDocument, path: Path, depth: number, value: Maybe): BsonDocument {
  const changed = new BsonDocument(document);
  const name = path[depth]!;
  if (depth === path.length - 1) {
    if (value === undefined) changed.delete(name);
    else changed.set(name, value);
  } else changed.set(name, below(document.get(name), path, depth + 1, value));
  return changed;
}

function below(found: Maybe, path: Path, depth: number, value: Maybe): BsonValue {
  if (Array.isArray(found)) return found.map((item) => below(item, path, depth, value));
  return withValue(found instanceof BsonDocument ? found : new BsonDocument(), path, depth, value);
}
