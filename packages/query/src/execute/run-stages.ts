/** A chain of stages over rows: the rows stream through in chunks; only sort and group hold them. */

import type { Batch } from '../bson/batch.ts';
import { fieldsRead, wholeRows } from '../plan/fields-read.ts';
import type { Stage } from '../plan/stage.ts';
import { runBucketAuto } from './bucket-auto/run-bucket-auto.ts';
import { compileFilters } from './expressions/compile-filters.ts';
import { type Frame, newFrame } from './expressions/scope.ts';
import { runGeoNear } from './geo/run-geo-near.ts';
import type { Budget } from './limits/budget.ts';
import { readRows } from './read-rows.ts';
import type { Row } from './row.ts';
import type { RunPlan } from './run-plan.ts';
import { inStage, Origin } from './stage-of-error.ts';
import { runGroup } from './stages/group.ts';
import { runJoin } from './stages/join.ts';
import { runLookup } from './stages/lookup.ts';
import { compileRowMap } from './stages/map-rows.ts';
import { runMerge } from './stages/merge.ts';
import { runRedact } from './stages/redact.ts';
import { runSample } from './stages/sample.ts';
import { runSlice } from './stages/slice.ts';
import { runSort } from './stages/sort.ts';
import { runUnion } from './stages/union.ts';
import { runUnwind } from './stages/unwind.ts';
import { runValues } from './stages/values.ts';
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
      return renewed(input, compileRowMap(stage, frame));
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
