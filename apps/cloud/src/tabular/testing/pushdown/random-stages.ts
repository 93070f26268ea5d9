/** Random stages with random expressions. */
import type { BsonDocument } from '@platform/query';
import { document, type Written } from './document.ts';
import { columns, leafPath, randomConditions } from './pushable-pipeline.ts';
import type { Random } from './random.ts';
import { randomLeafValue } from './random-document.ts';

type Fields = Record<string, Written>;

export function randomStages(random: Random): BsonDocument[] {
  const first = random.chance(0.05) ? [geoNear(random)] : [];
  return [...first, ...random.list(1, 4, () => random.pick(stages)(random))].map(document);
}

/** $sample is only used where its answer is not random: its rows are counted. */
const stages: readonly ((random: Random) => Fields)[] = [
  (random) => ({ $match: randomConditions(random) }),
  (random) => ({ $match: { $expr: expression(random, 2) } }),
  (random) => ({
    [random.pick(['$addFields', '$set'])]: { [random.pick(['made', 'data.made'])]: expression(random, 3) },
  }),
  (random) => ({
    $project: { component_name: 1, data: random.pick([0, 1]) || expression(random, 1), x: expression(random, 3) },
  }),
  (random) => ({ $project: { [random.pick(['data', 'tags', 'data.readings.o'])]: 0 } }),
  (random) => ({
    $group: { _id: expression(random, 2), v0: { [random.pick(folds)]: expression(random, 2) }, n: { $sum: 1 } },
  }),
  (random) => ({ $group: { _id: `$${random.pick(columns)}`, v0: orderedFold(random) } }),
  (random) => ({ $sort: { [path(random)]: random.pick([1, -1]), _id: 1 } }),
  (random) => ({ $skip: random.int(9) }),
  (random) => ({ $limit: 1 + random.int(40) }),
  (random) => ({ $unset: random.pick<Written>(['data.readings.t', ['tags', 'data.readings.s'], 'data']) }),
  (random) => ({
    $unwind: random.pick<Written>([
      '$data.readings.list',
      { path: '$data.readings.list', includeArrayIndex: 'at', preserveNullAndEmptyArrays: true },
    ]),
  }),
  (random) => ({
    $replaceRoot: { newRoot: random.pick<Written>(['$data', { d: '$data.readings', name: '$component_name' }]) },
  }),
  (random) => ({
    $replaceWith: { $mergeObjects: [{ t: '$time_received' }, random.pick(['$data.readings.o', '$data.readings', {}])] },
  }),
  (random) => ({ $sortByCount: expression(random, 1) }),
  (random) => ({
    $bucket: {
      groupBy: `$${leafPath(random)}`,
      boundaries: [0, 2, 5.5, 20],
      default: 'other',
      output: { v: { $sum: '$data.readings.t' } },
    },
  }),
  (random) => ({ $bucketAuto: { groupBy: `$${leafPath(random)}`, buckets: 1 + random.int(5) } }),
  () => ({ $redact: { $cond: [{ $gt: ['$x', 3] }, '$$PRUNE', '$$DESCEND'] } }),
  (random) => ({ $setWindowFields: windows(random) }),
  (random) => ({
    $densify: {
      field: 'time_received',
      range: { step: 12, unit: 'hour', bounds: random.pick<Written>(['full', 'partition']) },
      partitionByFields: ['component_name'],
    },
  }),
  (random) => ({
    $fill: {
      partitionBy: '$component_name',
      sortBy: { time_received: 1 },
      output: {
        [random.pick(['data.readings.late', 'late'])]: random.pick<Written>([{ method: 'locf' }, { value: 'none' }]),
      },
    },
  }),
  () => ({ $count: 'n' }),
];

const folds = [
  '$sum',
  '$avg',
  '$min',
  '$max',
  '$push',
  '$addToSet',
  '$first',
  '$last',
  '$stdDevPop',
  '$mergeObjects',
] as const;

function orderedFold(random: Random): Fields {
  const sortBy = { [path(random)]: random.pick([1, -1]), time_received: 1 };
  const name = random.pick(['$top', '$bottom', '$topN', '$bottomN']);
  return {
    [name]: { sortBy, output: [`$${leafPath(random)}`, '$component_name'], ...(name.endsWith('N') && { n: 2 }) },
  };
}

function windows(random: Random): Fields {
  return {
    partitionBy: random.pick(['$component_name', '$robot_id']),
    sortBy: { time_received: 1 },
    output: {
      w: { [random.pick(['$sum', '$avg', '$max', '$push'])]: `$${leafPath(random)}`, window: { documents: [-1, 1] } },
      r: { $documentNumber: {} },
    },
  };
}

function geoNear(random: Random): Fields {
  return {
    $geoNear: { near: [1, 1], distanceField: 'away', key: 'data.readings.place', query: randomConditions(random) },
  };
}

function path(random: Random): string {
  return random.chance(0.5)
    ? leafPath(random)
    : random.pick([...columns, 'data', 'tags', 'made', 'v0', '_id', 'data.none']);
}

function expression(random: Random, depth: number): Written {
  if (depth === 0 || random.chance(0.25)) {
    const pick = random.next();
    if (pick < 0.7) return `$${path(random)}`;
    return pick < 0.75 ? '$$ROOT' : { $literal: randomLeafValue(random) };
  }
  const below = (): Written => expression(random, depth - 1);
  return random.pick(operators)(below, random);
}

const operators: readonly ((below: () => Written, random: Random) => Written)[] = [
  (below, random) => ({ [random.pick(['$add', '$subtract', '$multiply', '$divide', '$mod'])]: [below(), below()] }),
  (below, random) => ({ [random.pick(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$cmp'])]: [below(), below()] }),
  (below, random) => ({ [random.pick(['$and', '$or'])]: [below(), below()] }),
  (below) => ({ $not: [below()] }),
  (below) => ({ $cond: [below(), below(), below()] }),
  (below) => ({ $ifNull: [below(), below()] }),
  (below, random) => ({
    [random.pick(['$type', '$isNumber', '$isArray', '$toString', '$toBool', '$abs', '$floor'])]: below(),
  }),
  (below) => ({ $in: [below(), '$data.readings.list'] }),
  (below) => ({
    $concat: ['$component_name', { $convert: { input: below(), to: 'string', onError: '!', onNull: '?' } }],
  }),
  (below) => ({ $map: { input: '$data.readings.list', as: 'each', in: [{ $type: '$$each' }, below()] } }),
  (below) => ({ a: below(), b: [below()] }),
  (below, random) => ({ [random.pick(['$sum', '$avg', '$min', '$max'])]: [below(), below()] }),
  (_, random) => ({ [random.pick(['$year', '$hour', '$dayOfWeek', '$millisecond'])]: '$time_received' }),
  (_, random) => ({ $getField: { field: random.pick(['a.b', 't', '0']), input: '$data.readings' } }),
  () => ({ $objectToArray: '$data.readings.o' }),
  (below) => ({ $reduce: { input: '$data.readings.list', initialValue: 0, in: { $max: ['$$value', below()] } } }),
];
