/** All stages of plans. Those with a parser or an executor of their own size have them in mql/ and execute/. */

import { runBucketAuto } from '../execute/bucket-auto/run-bucket-auto.ts';
import { compileFilters } from '../execute/expressions/compile-filters.ts';
import { runGeoNear } from '../execute/geo/run-geo-near.ts';
import type { Row } from '../execute/row.ts';
import { runGroup } from '../execute/stages/group.ts';
import { runJoin } from '../execute/stages/join.ts';
import { runLookup } from '../execute/stages/lookup.ts';
import { compileRowMap } from '../execute/stages/map-rows.ts';
import { runMerge } from '../execute/stages/merge.ts';
import { runSort } from '../execute/stages/sort.ts';
import { runUnion } from '../execute/stages/union.ts';
import { runValues } from '../execute/stages/values.ts';
import { runDensify } from '../execute/window/densify.ts';
import { runWindow } from '../execute/window/run-window.ts';
import { parseFilter } from '../mql/match/filter.ts';
import { parseBucket } from '../mql/stages/bucket.ts';
import { parseBucketAuto } from '../mql/stages/bucket-auto.ts';
import { parseCount } from '../mql/stages/count.ts';
import { parseGeoNear } from '../mql/stages/geo-near.ts';
import { parseGroup } from '../mql/stages/group.ts';
import { parseReplace } from '../mql/stages/replace.ts';
import { parseAddFields, parseProject, parseUnset } from '../mql/stages/shape.ts';
import { parseSort } from '../mql/stages/sort.ts';
import { parseSortByCount } from '../mql/stages/sort-by-count.ts';
import { parseDensify } from '../mql/window/densify.ts';
import { parseFill } from '../mql/window/fill.ts';
import { parseSetWindowFields } from '../mql/window/set-window-fields.ts';
import type { JoinStage, LookupStage, UnionStage, ValuesStage } from '../plan/combine.ts';
import type {
  BucketAutoStage,
  FilterStage,
  GeoNearStage,
  GroupStage,
  MergeStage,
  ReplaceStage,
  ShapeStage,
  SortStage,
} from '../plan/stage.ts';
import type { DensifyStage, WindowStage } from '../plan/window.ts';
import type { ParseStage, StageDefinition } from './definition.ts';
import { type RedactStage, redact } from './redact.ts';
import { type SampleStage, sample } from './sample.ts';
import { type SliceStage, slice } from './slice.ts';
import { type UnwindStage, unwind } from './unwind.ts';

/** By kind. */
export interface Stages {
  readonly bucketAuto: BucketAutoStage;
  readonly densify: DensifyStage;
  readonly filter: FilterStage;
  readonly geoNear: GeoNearStage;
  readonly group: GroupStage;
  readonly join: JoinStage;
  readonly lookup: LookupStage;
  readonly merge: MergeStage;
  readonly redact: RedactStage;
  readonly replace: ReplaceStage;
  readonly sample: SampleStage;
  readonly shape: ShapeStage;
  readonly slice: SliceStage;
  readonly sort: SortStage;
  readonly union: UnionStage;
  readonly unwind: UnwindStage;
  readonly values: ValuesStage;
  readonly window: WindowStage;
}

export const stages: { readonly [Kind in keyof Stages]: StageDefinition<Stages[Kind]> } = {
  bucketAuto: {
    mql: { $bucketAuto: (spec) => [parseBucketAuto(spec)] },
    run: (stage, input, { budget }) => runBucketAuto(stage, input, budget),
  },
  densify: {
    mql: { $densify: (spec) => [parseDensify(spec)] },
    run: (stage, input, { budget }) => runDensify(stage, input, budget),
  },
  filter: {
    mql: { $match: (spec) => [{ k: 'filter', where: parseFilter(spec) }] },
    run: (stage, input, { frame }) => filterRows(input, compileFilters([stage], frame)),
  },
  geoNear: {
    mql: { $geoNear: (spec) => [parseGeoNear(spec)] },
    run: (stage, input, { budget }) => runGeoNear(stage, input, budget),
  },
  group: {
    mql: {
      $bucket: parseBucket,
      $count: parseCount,
      $group: (spec) => [parseGroup(spec)],
      $sortByCount: parseSortByCount,
    },
    run: (stage, input, { budget }) => runGroup(stage, input, budget),
  },
  join: { run: (stage, input, { budget, runPlan }) => runJoin(stage, input, runPlan, budget) },
  lookup: { run: (stage, input, { budget, runPlan }) => runLookup(stage, input, runPlan, budget) },
  merge: { run: (stage, input, { budget }) => runMerge(stage, input, budget) },
  redact,
  replace: {
    mql: {
      $replaceRoot: (spec) => [parseReplace(spec, '$replaceRoot')],
      $replaceWith: (spec) => [parseReplace(spec, '$replaceWith')],
    },
    run: (stage, input, { frame }) => mapRows(input, compileRowMap(stage, frame)),
  },
  sample,
  shape: {
    mql: {
      $addFields: (spec) => [parseAddFields(spec, '$addFields')],
      $project: (spec) => [parseProject(spec)],
      $set: (spec) => [parseAddFields(spec, '$set')],
      $unset: (spec) => [parseUnset(spec)],
    },
    run: (stage, input, { frame }) => mapRows(input, compileRowMap(stage, frame)),
  },
  slice,
  sort: { mql: { $sort: parseSort }, run: (stage, input, { budget }) => runSort(stage, input, budget) },
  union: { run: (stage, input, { runPlan }) => runUnion(stage, input, runPlan) },
  unwind,
  values: { run: (stage, _input, { budget }) => runValues(stage, budget) },
  window: {
    mql: { $fill: parseFill, $setWindowFields: (spec) => [parseSetWindowFields(spec)] },
    run: (stage, input, { budget }) => runWindow(stage, input, budget),
  },
};

/** What parses each stage of pipelines, by name. */
export const pipelineStages: ReadonlyMap<string, ParseStage> = new Map(
  Object.values(stages)
    .flatMap(({ mql = {} }) => Object.entries(mql))
    .sort(([left], [right]) => (left < right ? -1 : 1)),
);

async function* filterRows(input: AsyncIterable<Row[]>, keep: (rows: Row[]) => Row[]): AsyncIterable<Row[]> {
  for await (const rows of input) {
    const kept = keep(rows);
    if (kept.length > 0) yield kept;
  }
}

async function* mapRows(input: AsyncIterable<Row[]>, map: (rows: Row[]) => Iterable<Row[]>): AsyncIterable<Row[]> {
  for await (const rows of input) yield* map(rows);
}
