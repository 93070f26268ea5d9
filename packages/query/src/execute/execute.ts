/**
 * The executor: the reference for what a plan means. Rows stream through in chunks; only sort and group hold them.
 */

import type { Batch } from '../bson/batch.ts';
import { decodeBson } from '../bson/decode.ts';
import { BsonWriter } from '../bson/encode.ts';
import type { BsonDocument } from '../bson/value.ts';
import { fieldsRead } from '../plan/fields-read.ts';
import type { Stage } from '../plan/stage.ts';
import { Budget, type Limits } from './budget.ts';
import { compileExpression } from './expression.ts';
import { runGroup } from './group.ts';
import { compileReplace } from './replace.ts';
import type { Row } from './row.ts';
import { type Frame, newFrame } from './scope.ts';
import { compileShape } from './shape.ts';
import { runSlice } from './slice.ts';
import { runSort } from './sort.ts';
import { isTruthy } from './truth.ts';

/** @throws QueryError while iterating: a value that an operator refuses, a limit, the deadline, the signal. */
export async function* execute(
  stages: readonly Stage[],
  input: AsyncIterable<Batch> | Iterable<Batch>,
  limits: Limits = {},
): AsyncGenerator<Batch, void, undefined> {
  const budget = new Budget(limits);
  const frame = newFrame(budget.nowMs);
  let rows = decoded(stages, input, budget);
  for (const stage of stages) rows = runStage(stage, rows, frame, budget);
  yield* encoded(rows, budget, limits);
}

function runStage(stage: Stage, input: AsyncIterable<Row[]>, frame: Frame, budget: Budget): AsyncIterable<Row[]> {
  switch (stage.k) {
    case 'filter': {
      const where = compileExpression(stage.where);
      return mapChunks(input, (rows) =>
        rows.filter((row) => {
          frame.root = row.document;
          const value = where(frame);
          return typeof value === 'boolean' ? value : isTruthy(value);
        }),
      );
    }
    case 'shape':
      return mapChunks(input, renewed(compileShape(stage), frame));
    case 'replace':
      return mapChunks(input, renewed(compileReplace(stage), frame));
    case 'group':
      return runGroup(stage, input, budget);
    case 'sort':
      return runSort(stage, input, budget);
    case 'slice':
      return runSlice(stage, input);
  }
}

function renewed(change: (frame: Frame) => BsonDocument, frame: Frame): (rows: Row[]) => Row[] {
  return (rows) =>
    rows.map((row) => {
      frame.root = row.document;
      return { document: change(frame) };
    });
}

async function* mapChunks(input: AsyncIterable<Row[]>, change: (rows: Row[]) => Row[]): AsyncIterable<Row[]> {
  for await (const rows of input) {
    const changed = change(rows);
    if (changed.length > 0) yield changed;
  }
}

const chunkRows = 1000;

/** Reads only the fields that the stages ask for. */
async function* decoded(
  stages: readonly Stage[],
  input: AsyncIterable<Batch> | Iterable<Batch>,
  budget: Budget,
): AsyncIterable<Row[]> {
  const { mask, passThrough } = fieldsRead(stages);
  for await (const batch of input) {
    let start = 0;
    let chunk: Row[] = [];
    for (let index = 0; index < batch.count; index++) {
      const end = batch.ends[index]!;
      const document = decodeBson(batch.bytes, start, mask);
      chunk.push(passThrough ? { document, bytes: batch.bytes.subarray(start, end) } : { document });
      start = end;
      if (chunk.length < chunkRows) continue;
      await budget.pause();
      yield chunk;
      chunk = [];
    }
    await budget.pause();
    if (chunk.length > 0) yield chunk;
  }
}

async function* encoded(
  input: AsyncIterable<Row[]>,
  budget: Budget,
  limits: Limits,
): AsyncGenerator<Batch, void, undefined> {
  const { batchRows = 1000, batchBytes = 1024 * 1024 } = limits;
  const writer = new BsonWriter(64 * 1024);
  let ends: number[] = [];
  const take = (): Batch => {
    const batch = { count: ends.length, bytes: writer.take(), ends: Uint32Array.from(ends) };
    ends = [];
    return batch;
  };
  for await (const rows of input) {
    await budget.pause();
    for (const row of rows) {
      if (row.bytes === undefined) writer.document(row.document);
      else writer.raw(row.bytes);
      ends.push(writer.length);
      if (ends.length >= batchRows || writer.length >= batchBytes) yield take();
    }
  }
  if (ends.length > 0) yield take();
}
