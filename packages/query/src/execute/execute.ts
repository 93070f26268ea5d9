/**
 * The executor: the reference for what a plan means. Rows stream through in chunks; only sort and group hold them.
 */

import type { Batch } from '../bson/batch.ts';
import { decodeBson } from '../bson/decode.ts';
import { BsonWriter } from '../bson/encode.ts';
import type { BsonDocument } from '../bson/value.ts';
import { fieldsRead } from '../plan/fields-read.ts';
import type { Stage } from '../plan/stage.ts';
import { QueryError } from '../query-error.ts';
import { runBucketAuto } from './bucket-auto/run-bucket-auto.ts';
import { Budget, type Limits } from './budget.ts';
import { compileExpression } from './expression.ts';
import { runGeoNear } from './geo/run-geo-near.ts';
import { runGroup } from './group.ts';
import { runJoin } from './join.ts';
import { runLookup } from './lookup.ts';
import { runRedact } from './redact.ts';
import { compileReplace } from './replace.ts';
import type { Row } from './row.ts';
import type { RunPlan } from './run-plan.ts';
import { runSample } from './sample.ts';
import { enterRow, type Frame, newFrame } from './scope.ts';
import { compileShape } from './shape.ts';
import { SharedInput } from './shared-input.ts';
import { runSlice } from './slice.ts';
import { runSort } from './sort.ts';
import { isTruthy } from './truth.ts';
import { runUnion } from './union.ts';
import { runUnwind } from './unwind.ts';
import { runValues } from './values.ts';
import { runDensify } from './window/densify.ts';
import { runWindow } from './window/run-window.ts';

/** @throws QueryError while iterating: a value that an operator refuses, a limit, the deadline, the signal. */
export async function* execute(
  stages: readonly Stage[],
  input: AsyncIterable<Batch> | Iterable<Batch>,
  limits: Limits = {},
): AsyncGenerator<Batch, void, undefined> {
  const budget = new Budget(limits);
  try {
    // Without other sources, all places of the plan read the same rows.
    const shared = limits.open === undefined && stages.some(isCombining) ? new SharedInput(input, budget) : undefined;
    const open = (source: string): Input => (source === 'none' ? [] : (shared ?? budget.open(source)));
    yield* encoded(runStages(stages, shared ?? input, budget, open), budget, limits);
  } catch (caught) {
    throw caught instanceof RangeError ? outgrown(caught) : caught;
  }
}

type Input = AsyncIterable<Batch> | Iterable<Batch>;

function isCombining(stage: Stage): boolean {
  return stage.k === 'join' || stage.k === 'lookup' || stage.k === 'union';
}

function runStages(
  stages: readonly Stage[],
  input: Input,
  budget: Budget,
  open: (source: string) => Input,
): AsyncIterable<Row[]> {
  const frame = newFrame(budget.nowMs, () => budget.check());
  const run: RunPlan = (plan) => runStages(plan.stages, open(plan.source), budget, open);
  let rows = decoded(stages, input, budget);
  for (const stage of stages) rows = runStage(stage, rows, frame, budget, run);
  return rows;
}

/** The engine's own limits on texts, arrays and the stack: the query asked for more, nothing is broken. */
function outgrown(caught: RangeError): QueryError {
  return new QueryError('ExceededMemoryLimit', `the query needs more than can be held at once (${caught.message})`, {
    hint: 'build smaller texts, arrays and documents, and nest them less deeply',
  });
}

function runStage(
  stage: Stage,
  input: AsyncIterable<Row[]>,
  frame: Frame,
  budget: Budget,
  run: RunPlan,
): AsyncIterable<Row[]> {
  switch (stage.k) {
    case 'filter': {
      const where = compileExpression(stage.where);
      return filtered(input, (row) => {
        enterRow(frame, row.document);
        const value = where(frame);
        return typeof value === 'boolean' ? value : isTruthy(value);
      });
    }
    case 'shape':
      return renewed(input, compileShape(stage), frame);
    case 'replace':
      return renewed(input, compileReplace(stage), frame);
    case 'group':
      return runGroup(stage, input, budget);
    case 'sort':
      return runSort(stage, input, budget);
    case 'slice':
      return runSlice(stage, input);
    case 'unwind':
      return runUnwind(stage, input, budget);
    case 'values':
      return runValues(stage, budget);
    case 'join':
      return runJoin(stage, input, run, budget);
    case 'lookup':
      return runLookup(stage, input, run, budget);
    case 'union':
      return runUnion(stage, input, run);
    case 'redact':
      return runRedact(stage, input, budget);
    case 'sample':
      return runSample(stage, input, budget);
    case 'bucketAuto':
      return runBucketAuto(stage, input, budget);
    case 'geoNear':
      return runGeoNear(stage, input, budget);
    case 'window':
      return runWindow(stage, input, budget);
    case 'densify':
      return runDensify(stage, input, budget);
  }
}

async function* filtered(input: AsyncIterable<Row[]>, keeps: (row: Row) => boolean): AsyncIterable<Row[]> {
  for await (const rows of input) {
    const kept = rows.filter(keeps);
    if (kept.length > 0) yield kept;
  }
}

/** A chunk whose rows were built larger than this is handed on before it is full: chunks are what is held beside the budget. */
const chunkBytes = 8 * 1024 * 1024;

async function* renewed(
  input: AsyncIterable<Row[]>,
  change: (frame: Frame) => BsonDocument,
  frame: Frame,
): AsyncIterable<Row[]> {
  for await (const rows of input) {
    let chunk: Row[] = [];
    let bytes = 0;
    for (const row of rows) {
      enterRow(frame, row.document);
      chunk.push({ document: change(frame) });
      bytes += frame.builtBytes;
      if (bytes < chunkBytes) continue;
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    if (chunk.length > 0) yield chunk;
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
