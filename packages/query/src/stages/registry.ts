/** All stages of plans. Large parsers and executors are in mql/ and execute/. */

import { runBucketAuto } from '../execute/bucket-auto/run-bucket-auto.ts';
import { compileFilters } from '../execute/expressions/compile-filters.ts';
import { runGeoNear } from '../execute/geo/run-geo-near.ts';
import type { Row, Rows } from '../execute/row.ts';
import { runGroup, runMerge } from '../execute/stages/group.ts';
import { runJoin, runLookup, runUnion } from '../execute/stages/join.ts';
import { compileRowMap } from '../execute/stages/map-rows.ts';
import { runSort } from '../execute/stages/sort.ts';
import { runValues } from '../execute/stages/values.ts';
import { runDensify } from '../execute/window/densify.ts';
import { runWindow } from '../execute/window/run-window.ts';
import { parseFilter } from '../mql/match/filter.ts';
import { parseBucket } from '../mql/stages/bucket.ts';
import { parseBucketAuto } from '../mql/stages/bucket-auto.ts';
import { parseGeoNear } from '../mql/stages/geo-near.ts';
import { parseCount, parseGroup, parseSortByCount } from '../mql/stages/group.ts';
import { parseAddFields, parseProject, parseReplace, parseUnset } from '../mql/stages/shape.ts';
import { parseSort } from '../mql/stages/sort.ts';
import { parseDensify } from '../mql/window/densify.ts';
import { parseFill } from '../mql/window/fill.ts';
import { parseSetWindowFields } from '../mql/window/set-window-fields.ts';
import type { RowStage, Stages } from '../plan/stage.ts';
import type { ParseStage, StageContext, StageDefinition } from './definition.ts';
import { redact } from './redact.ts';
import { sample } from './sample.ts';
import { slice } from './slice.ts';
import { unwind } from './unwind.ts';

export const stages: { readonly [Kind in keyof Stages]: StageDefinition<Stages[Kind]> } = {
  bucketAuto: { mql: { $bucketAuto: parseBucketAuto }, run: runBucketAuto },
  densify: { mql: { $densify: parseDensify }, run: runDensify },
  filter: {
    mql: { $match: (spec) => ({ k: 'filter', where: parseFilter(spec) }) },
    run: (stage, input, { frame }) => filterRows(input, compileFilters([stage], frame)),
  },
  geoNear: { mql: { $geoNear: parseGeoNear }, run: runGeoNear },
  group: {
    mql: { $bucket: parseBucket, $count: parseCount, $group: parseGroup, $sortByCount: parseSortByCount },
    run: runGroup,
  },
  join: { run: runJoin },
  lookup: { run: runLookup },
  merge: { run: runMerge },
  redact,
  replace: { mql: { $replaceRoot: parseReplace, $replaceWith: parseReplace }, run: mapRows },
  sample,
  shape: {
    mql: { $addFields: parseAddFields, $project: parseProject, $set: parseAddFields, $unset: parseUnset },
    run: mapRows,
  },
  slice,
  sort: { mql: { $sort: parseSort }, run: runSort },
  union: { run: runUnion },
  unwind,
  values: { run: runValues },
  window: { mql: { $fill: parseFill, $setWindowFields: parseSetWindowFields }, run: runWindow },
};

/** The parser of each pipeline stage, by name. */
export const pipelineStages: ReadonlyMap<string, ParseStage> = new Map(
  Object.values(stages)
    .flatMap(({ mql = {} }) => Object.entries(mql))
    .sort(([left], [right]) => (left < right ? -1 : 1)),
);

async function* filterRows(input: Rows, keep: (rows: Row[]) => Row[]): Rows {
  for await (const rows of input) {
    const kept = keep(rows);
    if (kept.length > 0) yield kept;
  }
}

function mapRows(stage: RowStage, input: Rows, { frame }: StageContext): Rows {
  return mapped(input, compileRowMap(stage, frame));
}

async function* mapped(input: Rows, map: (rows: Row[]) => Iterable<Row[]>): Rows {
  for await (const rows of input) yield* map(rows);
}
