/** MQL: turns an aggregation pipeline into a plan. stages/ defines the stages. */
import { decodeBson, maxDepth } from '../bson/decode.ts';
import { BsonDocument, type BsonValue } from '../bson/value.ts';
import type { Expr } from '../plan/expr.ts';
import type { Plan, Stage } from '../plan/stage.ts';
import { QueryError, reading, withErrorsAt } from '../query-error.ts';
import { pipelineStages } from '../stages/registry.ts';
import { countElements } from './count-elements.ts';
import { asksForText } from './match/filter.ts';

/** A longer pipeline (in bytes) is refused. */
export const maxPipelineBytes: number = 1024 * 1024;

/** A pipeline with more fields and elements is refused before it is decoded: parsing takes about 2 µs for each. */
export const maxPipelineElements: number = 100_000;

/** A pipeline with more stages is refused, as in MongoDB. */
const maxStages: number = 1000;

/**
 * @param pipeline the stages, each one BSON document, as bytes or decoded.
 * @throws QueryError with the stage's position and MongoDB's code.
 */
export function parseMql(pipeline: readonly (Uint8Array | BsonDocument)[], source: Plan['source'] = 'readings'): Plan {
  const bytes = pipeline.reduce((sum, stage) => sum + (stage instanceof Uint8Array ? stage.length : 0), 0);
  if (bytes > maxPipelineBytes) {
    throw new QueryError('BadValue', `a pipeline can have at most ${maxPipelineBytes} bytes, this one has ${bytes}`);
  }
  if (pipeline.length > maxStages) {
    throw new QueryError(7749501, `a pipeline can have at most ${maxStages} stages, this one has ${pipeline.length}`);
  }
  // Each element takes at least its type and the end of its name.
  if (bytes > 2 * maxPipelineElements) requireFewElements(pipeline);
  const stages: Stage[] = [];
  for (const [position, given] of pipeline.entries()) {
    try {
      const { name, added } = reading(() => {
        const document = given instanceof BsonDocument ? given : decodeBson(given);
        checkDepth(document);
        checkNearMeta(document, stages);
        return { name: [...document.keys()][0] ?? '', added: parseStage(document) };
      });
      checkSideEffects(stages, added);
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

/** @throws QueryError with the stage in which there are too many. Stages that are decoded already are the cloud's own. */
function requireFewElements(pipeline: readonly (Uint8Array | BsonDocument)[]): void {
  let left = maxPipelineElements;
  for (const [stage, given] of pipeline.entries()) {
    if (!(given instanceof Uint8Array)) continue;
    left -= countElements(given, left);
    if (left >= 0) continue;
    const reason = `a pipeline can have at most ${maxPipelineElements} fields and elements, found more`;
    throw new QueryError('BSONObjectTooLarge', reason, { stage });
  }
}

/** Only filters that keep everything may precede $geoNear; nothing may precede a text search. */
function checkSideEffects(before: readonly Stage[], added: readonly Stage[]): void {
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
  const parse = pipelineStages.get(name);
  if (parse !== undefined) return withErrorsAt({ stageName: name }, () => [parse(spec, name)].flat());
  throw new QueryError(40324, `unrecognized pipeline stage name: '${name}'`, {
    stageName: name,
    hint: `the supported stages are ${[...pipelineStages.keys()].join(', ')}`,
  });
}

/** A sort followed by a limit needs to keep only the first rows. */
function fuseTop(stages: readonly Stage[]): readonly Stage[] {
  return stages.map((stage, index) => {
    const next = stages[index + 1];
    if (stage.k !== 'sort' || next?.k !== 'slice' || next.limit === undefined) return stage;
    return { ...stage, top: next.skip + next.limit };
  });
}

/** The output of a $group has no field order of its own, so the $project that follows determines it. */
function orderGroups(stages: readonly Stage[]): readonly Stage[] {
  return stages.map((stage, index) => {
    const follows = stage.k === 'shape' && stage.mode === 'include' && stages[index - 1]?.k === 'group';
    return follows ? { ...stage, inOrder: true } : stage;
  });
}

/**
 * Limits nesting, so that no query can exhaust the stack of code that walks it. @throws QueryError Overflow if documents and arrays are
 * nested deeper than 200 levels.
 */
function checkDepth(value: BsonValue, depth = 1): void {
  if (depth > maxDepth) throw new QueryError('Overflow', `the query is nested deeper than ${maxDepth} levels`);
  if (value instanceof BsonDocument) for (const below of value.values()) checkDepth(below, depth + 1);
  else if (Array.isArray(value)) for (const below of value) checkDepth(below, depth + 1);
}

const kinds: readonly BsonValue[] = ['geoNearDistance', 'geoNearPoint'];
const ends: ReadonlySet<Stage['k']> = new Set(['group', 'bucketAuto']);

/**
 * Checks $meta of $geoNear's results: $geoNear must come before, and no stage since may have combined rows. @throws QueryError 40218, with
 * the position.
 */
function checkNearMeta(stage: BsonDocument, before: readonly Stage[]): void {
  const isKnown = before.some(({ k }) => k === 'geoNear') && !before.some(({ k }) => ends.has(k));
  const found = isKnown ? undefined : metaIn(stage);
  if (found === undefined) return;
  throw new QueryError(40218, `$meta: no earlier stage produces ${found.kind}`, {
    path: found.path,
    hint: '$geoNear must be the first stage, and no stage between may group rows',
  });
}

function metaIn(value: BsonValue, path = ''): { readonly path: string; readonly kind: string } | undefined {
  const parts: readonly (readonly [string, BsonValue])[] =
    value instanceof BsonDocument
      ? [...value]
      : Array.isArray(value)
        ? value.map((item, index): [string, BsonValue] => [String(index), item])
        : [];
  for (const [name, part] of parts) {
    // A literal is not an expression.
    if (name === '$literal' || name === '$const') continue;
    const at = path === '' ? name : `${path}.${name}`;
    if (name === '$meta' && kinds.includes(part)) return { path: at, kind: String(part) };
    const below = metaIn(part, at);
    if (below !== undefined) return below;
  }
  return undefined;
}
