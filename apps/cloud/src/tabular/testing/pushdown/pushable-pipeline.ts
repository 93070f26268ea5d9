/** Pipelines that suit a column store: conditions, then a projection, a group, or the first rows of an order. */
import type { BsonDocument } from '@platform/query';
import { document, type Written } from './document.ts';
import type { Random } from './random.ts';
import { leaves, randomLeafValue, texts } from './random-document.ts';
import { components, timesMs } from './random-world.ts';

type Fields = Record<string, Written>;

export function pushablePipeline(random: Random): BsonDocument[] {
  const matches = random.list(0, 2, () => ({ $match: randomConditions(random) }));
  const rest = random.pick([grouped, grouped, grouped, projected, ordered, counted, newest])(random);
  return [...matches, ...rest].map(document);
}

/** Rows in the order of the store: it need not read files behind those that hold them. */
export function firstRows(random: Random): BsonDocument[] {
  const matches = random.list(0, 2, () => ({ $match: condition(random, ofSeriesOrTime) }));
  const skip = random.chance(0.3) ? [{ $skip: random.int(30) }] : [];
  const shape = random.chance(0.3) ? [{ $project: { component_name: 1, time_received: 1 } }] : [];
  return [...matches, ...shape, ...skip, { $limit: 1 + random.int(random.chance(0.5) ? 10 : 300) }].map(document);
}

export function leafPath(random: Random): string {
  // Mostly a regular leaf.
  return `data.readings.${random.pick(random.chance(0.7) ? leaves.slice(0, 5) : leaves)}`;
}

export const columns = [
  'location_id',
  'robot_id',
  'part_id',
  'component_type',
  'component_name',
  'method_name',
  'capture_day',
  'time_received',
  'time_requested',
] as const;

export function randomConditions(random: Random): Fields {
  const conditions = random.list(1, 3, () => condition(random));
  if (random.chance(0.2)) return { $or: conditions };
  return random.chance(0.3) ? { $and: conditions } : Object.assign({}, ...conditions);
}

/** The first kinds of conditions; the others look into readings. */
const ofSeriesOrTime = 4;

function condition(random: Random, kinds = 9): Fields {
  const time = (): Date => new Date(random.pick(timesMs));
  switch (random.int(kinds)) {
    case 0:
      return { component_name: random.pick(components) };
    case 1:
      return { component_name: { $in: random.some(components, 0, 3) } };
    case 2:
      return { time_received: { [random.pick(['$gt', '$gte'])]: time(), [random.pick(['$lt', '$lte'])]: time() } };
    case 3:
      return { capture_day: { [random.pick(['$eq', '$gte', '$lt'])]: random.pick(['2026-05-16', '2026-05-17']) } };
    case 4:
      return { [leafPath(random)]: random.chance(0.5) ? random.int(8) : randomLeafValue(random) };
    case 5:
      return {
        [leafPath(random)]: random.pick<Written>([{ $exists: true }, { $exists: false }, { $type: 'number' }, null]),
      };
    case 6:
      return { [leafPath(random)]: { $in: random.list(0, 3, () => randomLeafValue(random)) } };
    case 7:
      return { $expr: { [random.pick(['$gt', '$eq', '$lte'])]: [`$${leafPath(random)}`, randomLeafValue(random)] } };
    default:
      return { [leafPath(random)]: { [random.pick(['$gt', '$gte', '$lt', '$lte', '$ne'])]: compared(random) } };
  }
}

function compared(random: Random): Written {
  const pick = random.next();
  if (pick < 0.6) return random.int(40) / 2;
  return pick < 0.8 ? random.pick([...texts, 'canary']) : randomLeafValue(random);
}

function grouped(random: Random): Fields[] {
  const group = random.chance(0.1)
    ? { $bucket: { ...buckets(random), output: accumulators(random) } }
    : { $group: { _id: groupKey(random), ...accumulators(random) } };
  const first = random.chance(0.15) ? [{ $sort: { time_received: random.pick([1, -1]) } }] : [];
  return [...first, group, ...afterGroup(random)];
}

function groupKey(random: Random): Written {
  const column = (): string => `$${random.pick(columns)}`;
  switch (random.int(8)) {
    case 0:
      return null;
    case 1:
    case 2:
      return column();
    case 3:
      return { machine: column(), component: column() };
    case 4:
      return decided(random, () =>
        random.pick<Written>([1, 2.5, 'high', 'low', null, column(), `$${leafPath(random)}`]),
      );
    case 5:
      return { of: column(), level: decided(random, () => random.pick(['high', 'low', 'none'])) };
    case 6:
      return random.pick<Written>([
        { $dateTrunc: { date: '$time_received', unit: random.pick(['second', 'hour', 'day']) } },
        { $ifNull: [{ $minute: '$time_requested' }, 'none'] },
        { warm: { $gt: [`$${leafPath(random)}`, 5] } },
      ]);
    default:
      return `$${leafPath(random)}`;
  }
}

function buckets(random: Random): Fields {
  const boundaries = random.pick<Written[]>([
    [0, 2, 4, 8],
    [-1, 0.5, 3],
    ['a', 'm', 'z'],
    [0, 1_000],
  ]);
  return { groupBy: `$${leafPath(random)}`, boundaries, ...(random.chance(0.9) && { default: 'other' }) };
}

/** A value with $cond or $switch. */
function decided(random: Random, value: () => Written): Written {
  const when = (): Written => {
    const leaf = `$${leafPath(random)}`;
    const compared = { [random.pick(['$gt', '$gte', '$eq', '$ne', '$lt'])]: [leaf, randomLeafValue(random)] };
    return random.pick<Written>([
      leaf,
      compared,
      { $eq: ['$component_name', random.pick(components)] },
      { $and: [leaf, compared] },
      { $not: [compared] },
      { $lt: ['$time_received', new Date(random.pick(timesMs))] },
    ]);
  };
  const inner = (): Written => (random.chance(0.15) ? decided(random, value) : value());
  if (random.chance(0.7)) return { $cond: [when(), inner(), inner()] };
  const branches = random.list(1, 3, () =>
    document(
      Object.fromEntries([
        ['case', when()],
        ['then', inner()],
      ]),
    ),
  );
  return { $switch: { branches, ...(random.chance(0.9) && { default: inner() }) } };
}

function accumulators(random: Random): Fields {
  return Object.fromEntries(random.list(1, 4, () => accumulator(random)).map((each, n) => [`v${n}`, each]));
}

function accumulator(random: Random): Written {
  const leaf = `$${leafPath(random)}`;
  switch (random.int(13)) {
    case 12:
      return { $addToSet: random.pick([leaf, leaf, '$time_received', `$${random.pick(columns)}`]) };
    case 11:
      return random.pick<Written>([
        { $median: { input: leaf, method: 'approximate' } },
        { $percentile: { input: leaf, p: [0.1, 0.5, 1], method: 'approximate' } },
      ]);
    case 10:
      return {
        [random.pick(['$topN', '$bottomN'])]: {
          n: 2,
          sortBy: { [random.pick(['time_received', leafPath(random)])]: random.pick([1, -1]) },
          output: leaf,
        },
      };
    case 0:
      return { $sum: 1 };
    case 1:
      return { $count: {} };
    case 2:
      return { [random.pick(['$min', '$max'])]: random.pick(['$time_received', leaf]) };
    case 3:
    case 4:
      return {
        [random.pick(['$sum', '$sum', '$avg', '$max'])]: decided(random, () =>
          random.pick<Written>([1, 0, 0.1, -2.5, null, leaf, `$${leafPath(random)}`, 'text', '$component_name']),
        ),
      };
    default:
      return { [random.pick(['$sum', '$avg', '$avg', '$min', '$max', '$first', '$last'])]: leaf };
  }
}

function afterGroup(random: Random): Fields[] {
  const order = { $sort: random.pick([{ _id: 1 }, { v0: -1 }, { v0: 1, _id: -1 }]) };
  return [
    ...(random.chance(0.3) ? [order] : []),
    ...(random.chance(0.2) ? [{ $limit: 1 + random.int(5) }] : []),
    ...(random.chance(0.2) ? [{ $project: { _id: 0, key: '$_id', v0: 1 } }] : []),
  ];
}

function projected(random: Random): Fields[] {
  const paths = random.some([...columns, 'data', 'data.readings.canary', leafPath(random), leafPath(random)], 1, 5);
  const kept = paths.filter((path, at) => !paths.some((other, there) => there !== at && path.startsWith(`${other}.`)));
  const fields = Object.fromEntries(kept.map((path) => [path, 1]));
  const made = random.chance(0.6) ? random.list(1, 3, () => madeField(random)) : [];
  const stage = random.chance(0.15)
    ? { $replaceWith: Object.assign({}, ...made, { value: `$${leafPath(random)}` }) }
    : { $project: Object.assign({ ...(random.chance(0.5) && { _id: 0 }), ...fields }, ...made) };
  return [stage, ...(random.chance(0.4) ? afterProject(random) : [])];
}

function madeField(random: Random): Fields {
  const value = (): Written =>
    random.pick<Written>([
      `$${leafPath(random)}`,
      `$${leafPath(random)}`,
      `$${random.pick([...columns, 'tags', 'additional_parameters', 'data.readings', 'data', 'none', '$ROOT.tags'])}`,
      { $literal: random.int(9) },
      { $toUpper: '$component_name' },
    ]);
  const name = random.pick(['value', 'other', 'made', '_id', 'robot_id']);
  return random.pick<Fields>([
    { [name]: value() },
    { [name]: value() },
    { 'in.a': value(), 'in.b': value() },
    { out: { [name]: value(), below: { deep: value() } } },
  ]);
}

function afterProject(random: Random): Fields[] {
  return random.pick<Fields[]>([
    [{ $limit: 1 + random.int(20) }],
    [{ $match: { [random.pick(['value', 'component_name', 'in.a'])]: { $ne: random.int(9) } } }],
    [{ $sort: { value: -1, time_received: 1, component_name: 1 } }, { $limit: 1 + random.int(9) }],
    [{ $group: { _id: '$component_name', v0: { $max: '$value' } } }],
  ]);
}

function ordered(random: Random): Fields[] {
  const keys = random.some([...columns, leafPath(random)], 1, 2).map((path) => [path, random.pick([1, -1])]);
  const skip = random.chance(0.2) ? [{ $skip: random.int(6) }] : [];
  return [{ $sort: Object.fromEntries(keys) }, ...skip, { $limit: 1 + random.int(12) }];
}

function counted(): Fields[] {
  return [{ $count: 'rows' }];
}

/** The latest row of each key, as dashboards query it. */
function newest(random: Random): Fields[] {
  const key = random.pick<Written>([
    '$component_name',
    { robot: '$robot_id', component: '$component_name' },
    '$part_id',
  ]);
  const value = random.pick(['$$ROOT', '$data', `$${leafPath(random)}`, '$time_received']);
  return [{ $sort: { time_received: -1 } }, { $group: { _id: key, latest: { $first: value } } }];
}
