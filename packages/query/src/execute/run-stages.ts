/** A chain of stages over rows: the rows stream through in chunks; only sort and group hold them. */

import type { Batch } from '../bson/batch.ts';
import { fieldsRead, wholeRows } from '../plan/fields-read.ts';
import type { Stage } from '../plan/stage.ts';
import { runBucketAuto } from './bucket-auto/run-bucket-auto.ts';
import type { Budget } from './budget.ts';
import { compileFilters } from './compile-filters.ts';
import { runGeoNear } from './geo/run-geo-near.ts';
import { runGroup } from './group.ts';
import { runJoin } from './join.ts';
import { runLookup } from './lookup.ts';
import { runMerge } from './merge.ts';
import { readRows } from './read-rows.ts';
import { runRedact } from './redact.ts';
import { compileRenewal } from './renew.ts';
import type { Row } from './row.ts';
import type { RunPlan } from './run-plan.ts';
import { runSample } from './sample.ts';
import { type Frame, newFrame } from './scope.ts';
import { runSlice } from './slice.ts';
import { runSort } from './sort.ts';
import { inStage, Origin } from './stage-of-error.ts';
import { runUnion } from './union.ts';
import { runUnwind } from './unwind.ts';
import { runValues } from './values.ts';
import { runDensify } from './window/densify.ts';
import { runWindow } from './window/run-window.ts';

export type Input = AsyncIterable<Batch> | Iterable<Batch>;

/** @param open the rows of a source that a join, union or subquery names. */
export function runStages(
  stages: readonly Stage[],
  input: AsyncIterable<Row[]>,
  budget: Budget,
  open: (source: string) => Input,
): AsyncIterable<Row[]> {
  const frame = newFrame(budget.nowMs, () => budget.check());
  const run: RunPlan = (plan, whole) => {
    const read = fieldsRead(plan.stages);
    const fields = whole === 'whole' && read.passThrough ? wholeRows : read;
    return runStages(plan.stages, readRows(fields, open(plan.source), budget), budget, open);
  };
  const origin = new Origin();
  let rows = stages.some(({ at }) => at !== undefined) ? origin.rows(input) : input;
  for (const stage of stages) {
    const given = rows;
    const gives = inStage(stage, () => runStage(stage, given, frame, budget, run));
    rows = stage.at === undefined ? gives : origin.through(stage, gives);
  }
  return rows;
}

function runStage(
  stage: Stage,
  input: AsyncIterable<Row[]>,
  frame: Frame,
  budget: Budget,
  run: RunPlan,
): AsyncIterable<Row[]> {
  switch (stage.k) {
    case 'filter':
      return filtered(input, compileFilters([stage], frame));
    case 'shape':
    case 'replace':
      return renewed(input, compileRenewal(stage, frame));
    case 'group':
      return runGroup(stage, input, budget);
    case 'merge':
      return runMerge(stage, input, budget);
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

async function* filtered(input: AsyncIterable<Row[]>, keep: (rows: Row[]) => Row[]): AsyncIterable<Row[]> {
  for await (const rows of input) {
    const kept = keep(rows);
    if (kept.length > 0) yield kept;
  }
}

async function* renewed(input: AsyncIterable<Row[]>, renew: (rows: Row[]) => Iterable<Row[]>): AsyncIterable<Row[]> {
  for await (const rows of input) yield* renew(rows);
}
