/** MQL: an aggregation pipeline becomes a plan. Each stage has a file of its own, named after the plan's stage. */

import { decodeBson } from '../bson/decode.ts';
import { BsonDocument, type BsonValue } from '../bson/value.ts';
import type { Expr } from '../plan/expr.ts';
import type { Plan, Stage } from '../plan/stage.ts';
import { QueryError, reading } from '../query-error.ts';
import { checkDepth } from './depth.ts';
import { asksForText, parseFilter } from './match/filter.ts';
import { parseBucket } from './stages/bucket.ts';
import { parseBucketAuto } from './stages/bucket-auto.ts';
import { parseCount } from './stages/count.ts';
import { parseGeoNear } from './stages/geo-near.ts';
import { parseGroup } from './stages/group.ts';
import { checkNearMeta } from './stages/near-meta.ts';
import { parseRedact } from './stages/redact.ts';
import { parseReplace } from './stages/replace.ts';
import { parseSample } from './stages/sample.ts';
import { parseAddFields, parseProject, parseUnset } from './stages/shape.ts';
import { parseLimit, parseSkip } from './stages/slice.ts';
import { parseSort } from './stages/sort.ts';
import { parseSortByCount } from './stages/sort-by-count.ts';
import { parseUnwind } from './stages/unwind.ts';
import { supportedStages } from './stages.ts';
import { parseDensify } from './window/densify.ts';
import { parseFill } from './window/fill.ts';
import { parseSetWindowFields } from './window/set-window-fields.ts';

/** A pipeline of more bytes than this is refused. */
export const maxPipelineBytes: number = 1024 * 1024;

/** A pipeline of more stages than this is refused, as in MongoDB. */
const maxStages: number = 1000;

type ParseStage = (spec: BsonValue) => readonly Stage[];

const parsers: Readonly<Record<(typeof supportedStages)[number], ParseStage>> = {
  $match: (spec) => [{ k: 'filter', where: parseFilter(spec) }],
  $project: (spec) => [parseProject(spec)],
  $addFields: (spec) => [parseAddFields(spec, '$addFields')],
  $set: (spec) => [parseAddFields(spec, '$set')],
  $unset: (spec) => [parseUnset(spec)],
  $replaceRoot: (spec) => [parseReplace(spec, '$replaceRoot')],
  $replaceWith: (spec) => [parseReplace(spec, '$replaceWith')],
  $group: (spec) => [parseGroup(spec)],
  $sort: parseSort,
  $limit: (spec) => [parseLimit(spec)],
  $skip: (spec) => [parseSkip(spec)],
  $count: parseCount,
  $unwind: (spec) => [parseUnwind(spec)],
  $bucket: parseBucket,
  $bucketAuto: (spec) => [parseBucketAuto(spec)],
  $sortByCount: parseSortByCount,
  $redact: (spec) => [parseRedact(spec)],
  $sample: (spec) => [parseSample(spec)],
  $geoNear: (spec) => [parseGeoNear(spec)],
  $setWindowFields: (spec) => [parseSetWindowFields(spec)],
  $densify: (spec) => [parseDensify(spec)],
  $fill: parseFill,
};

/**
 * @param pipeline the stages, each one BSON document, as bytes or decoded.
 * @throws QueryError with the stage's position and MongoDB's code.
 */
export function parseMql(pipeline: readonly (Uint8Array | BsonDocument)[], source: Plan['source'] = 'readings'): Plan {
  const bytes = pipeline.reduce((sum, stage) => sum + (stage instanceof Uint8Array ? stage.length : 0), 0);
  if (bytes > maxPipelineBytes) {
    throw new QueryError('BadValue', `a pipeline may have ${maxPipelineBytes} bytes, this one has ${bytes}`);
  }
  if (pipeline.length > maxStages) {
    throw new QueryError(7749501, `a pipeline may have ${maxStages} stages, this one has ${pipeline.length}`);
  }
  const stages: Stage[] = [];
  for (const [position, given] of pipeline.entries()) {
    try {
      const { name, added } = reading(() => {
        const document = given instanceof BsonDocument ? given : decodeBson(given);
        checkDepth(document);
        checkNearMeta(document, stages);
        return { name: [...document.keys()][0] ?? '', added: parseStage(document) };
      });
      checkPlaces(stages, added);
      const at = { stage: position, stageName: name };
      stages.push(...added.map((stage) => ({ ...stage, at })));
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      const name = given instanceof BsonDocument ? [...given.keys()][0] : undefined;
      throw error.at({ stage: position, ...(name === undefined ? {} : { stageName: name }) });
    }
  }
  return { source, stages: orderGroups(fuseTop(stages)) };
}

/** Only filters that keep everything may stand before $geoNear, and nothing before a search for text. */
function checkPlaces(before: readonly Stage[], added: readonly Stage[]): void {
  const [stage] = added;
  if (stage?.k === 'filter' && before.length > 0 && asksForText(stage.where)) {
    throw new QueryError(17313, '$match with $text must be the first stage of a pipeline');
  }
  if (stage?.k !== 'geoNear') return;
  const first = before.every((each) => each.k === 'filter' && keepsAll(each.where));
  if (!first) throw new QueryError(40603, '$geoNear must be the first stage of a pipeline');
}

function keepsAll(where: Expr): boolean {
  return where.k === 'call' && where.fn === 'match.and' && where.args.length === 0;
}

function parseStage(document: BsonDocument): readonly Stage[] {
  const entries = [...document];
  const [entry] = entries;
  if (entry === undefined || entries.length > 1) {
    const found = entries.length === 0 ? 'none' : entries.map(([name]) => name).join(', ');
    throw new QueryError(40323, `a pipeline stage must have exactly one field, its name; found ${found}`);
  }
  const [name, spec] = entry;
  const parse = Object.hasOwn(parsers, name) ? parsers[name as keyof typeof parsers] : undefined;
  if (parse !== undefined) {
    try {
      return parse(spec);
    } catch (error) {
      throw error instanceof QueryError ? error.at({ stageName: name }) : error;
    }
  }
  throw new QueryError(40324, `unrecognized pipeline stage name: '${name}'`, {
    stageName: name,
    hint: `the supported stages are ${supportedStages.join(', ')}`,
  });
}

/** A sort that is followed by a limit needs to keep only the first rows. */
function fuseTop(stages: readonly Stage[]): readonly Stage[] {
  return stages.map((stage, index) => {
    const next = stages[index + 1];
    if (stage.k !== 'sort' || next?.k !== 'slice' || next.limit === undefined) return stage;
    return { ...stage, top: next.skip + next.limit };
  });
}

/** What a $group hands on has no order of its own for the $project that follows. */
function orderGroups(stages: readonly Stage[]): readonly Stage[] {
  return stages.map((stage, index) => {
    const follows = stage.k === 'shape' && stage.mode === 'include' && stages[index - 1]?.k === 'group';
    return follows ? { ...stage, inOrder: true } : stage;
  });
}
