/** Queries that take, or try to take, all time or all memory, by name, as a client would send them. */
import { type BsonDocument, encodeBson, type Plan } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import { parseSql } from '@platform/query/sql';
import { bson } from './pushdown/document.ts';

type Stages = readonly Record<string, unknown>[];

/** Includes parsing, which is part of a query's cost. Each may throw a QueryError. */
export const hostileQueries: Readonly<Record<string, () => Plan>> = {
  'a join of 10^12 rows': () => parseSql('SELECT count(*) AS n FROM readings a, readings b, readings c, readings d'),
  'a join of 10^12 rows with a condition': () =>
    parseSql(
      'SELECT a.part_id FROM readings a JOIN readings b ON true JOIN readings c ON true JOIN readings d ON a.data.i + b.data.i + c.data.i + d.data.i = -1',
    ),
  'a product of unwound arrays': () =>
    mql([
      { $group: { _id: null, all: { $push: '$data.i' } } },
      { $project: { a: '$all', b: '$all', c: '$all', d: '$all' } },
      ...['a', 'b', 'c', 'd'].map((name) => ({ $unwind: `$${name}` })),
      { $count: 'n' },
    ]),
  'nested quantifiers': () => mql([{ $match: { 'data.text': { $regex: '(a+)+(a+)+(a|aa)+$' } } }]),
  'a pattern that repeats repetitions': () =>
    mql([{ $match: { 'data.text': { $regex: '((a{1,1000}){1,1000}){1,1000}b' } } }]),
  'a pattern of 30,000 alternatives': () =>
    mql([{ $match: { 'data.text': { $regex: Array.from({ length: 30_000 }, (_, n) => `a*${n}`).join('|') } } }]),
  'every match of a lazy pattern in a long text': () =>
    mql([{ $project: { n: { $size: { $regexFindAll: { input: longText, regex: 'a.*?b|a' } } } } }]),
  'LIKE with many wildcards': () =>
    parseSql(`SELECT count(*) AS n FROM readings WHERE data.text LIKE '${'%a'.repeat(200)}%b'`),
  'a search for a long text in a longer one': () =>
    mql([{ $project: { at: { $indexOfCP: [longText, `${'a'.repeat(20_000)}b`] } } }]),
  'loops in loops over numbers': () => mql([{ $project: { n: { $size: loops(4) } } }]),
  'loops in loops over constants': () => mql([{ $match: { $expr: { $eq: [0, { $size: loops(3) }] } } }]),
  'a sum of sums of sums': () => mql([{ $project: { n: sums(3) } }]),
  'a range of two billion': () => mql([{ $project: { n: { $size: { $range: [0, 2_000_000_000] } } } }]),
  'texts that double': () => mql([{ $addFields: { a: 'x' } }, ...doubling({ $concat: ['$a', '$a'] })]),
  'arrays that double': () => mql([{ $addFields: { a: [1] } }, ...doubling({ $concatArrays: ['$a', '$a'] })]),
  'documents that double': () => mql([{ $addFields: { a: 1 } }, ...doubling({ l: '$a', r: '$a' })]),
  'variables that double': () => mql([{ $project: { x: lets(60) } }]),
  'arrays unwound that double the rows': () =>
    mql([
      { $addFields: { two: [1, 2] } },
      ...Array.from({ length: 40 }, () => ({ $unwind: '$two' })).flatMap((stage) => [
        stage,
        { $addFields: { two: [1, 2] } },
      ]),
      { $count: 'n' },
    ]),
  'a million years by the millisecond': () =>
    mql([
      {
        $densify: {
          field: 'time_received',
          range: { step: 1, unit: 'millisecond', bounds: [new Date(0), new Date(3e13)] },
        },
      },
      { $count: 'n' },
    ]),
  'steps too small to be counted': () =>
    mql([{ $densify: { field: 'data.i', range: { step: 1e-9, bounds: [0.5, 1e6 + 0.5] } } }, { $count: 'n' }]),
  'windows over all rows for each row': () =>
    mql([
      { $unwind: '$data.list' },
      {
        $setWindowFields: {
          sortBy: { 'data.i': 1 },
          output: { all: { $push: '$data.list', window: { documents: ['unbounded', 'unbounded'] } } },
        },
      },
      { $count: 'n' },
    ]),
  'medians of moving windows': () =>
    mql([
      { $unwind: '$data.list' },
      {
        $setWindowFields: {
          sortBy: { 'data.i': 1 },
          output: {
            m: { $median: { input: '$data.list', method: 'approximate' }, window: { documents: [-50_000, 50_000] } },
          },
        },
      },
      { $count: 'n' },
    ]),
  'everything pushed repeatedly': () =>
    mql([
      ...Array.from({ length: 12 }, () => [
        { $group: { _id: null, all: { $push: '$$ROOT' } } },
        { $project: { pair: ['$all', '$all'] } },
        { $unwind: '$pair' },
      ]).flat(),
      { $count: 'n' },
    ]),
  'a set of sets': () =>
    mql([
      { $project: { s: { $setUnion: [range(1_000_000), { $map: { input: range(1_000_000), in: ['$$this'] } }] } } },
    ]),
  'arrays zipped and sorted': () =>
    mql([
      {
        $project: {
          z: { $sortArray: { input: { $zip: { inputs: [range(3_000_000), range(3_000_000)] } }, sortBy: 1 } },
        },
      },
    ]),
  'sums of 90 decisions each': () => {
    const chain = (n: number): unknown => (n === 0 ? 0 : { $cond: [{ $gt: ['$data.i', n] }, n, chain(n - 1)] });
    return mql([
      {
        $group: {
          _id: null,
          ...Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`v${n}`, { $sum: chain(90) }])),
        },
      },
    ]);
  },
  '30,000 conditions': () =>
    mql([{ $match: { $or: Array.from({ length: 30_000 }, (_, n) => ({ 'data.i': n + 0.5 })) } }]),
  'a list of 60,000 values': () =>
    mql([{ $match: { 'data.i': { $in: Array.from({ length: 60_000 }, (_, n) => n + 0.5) } } }]),
  'a list of 45,000 texts': () =>
    mql([{ $match: { 'data.text': { $not: { $in: Array.from({ length: 45_000 }, (_, n) => `b${n}`) } } } }]),
  'SQL: a list of 100,000 values': () =>
    parseSql(
      `SELECT count(*) AS n FROM readings WHERE data.i IN (${Array.from({ length: 100_000 }, (_, n) => n).join(',')})`,
    ),
  'SQL: one megabyte of conditions': () =>
    parseSql(`SELECT count(*) AS n FROM readings WHERE ${'data.i > 1 OR '.repeat(80_000).slice(0, 1_000_000)}`),
  'SQL: one megabyte of parentheses': () => parseSql(`SELECT ${'('.repeat(1_000_000)}`),
  'SQL: one megabyte of text': () => parseSql(`SELECT '${'x'.repeat(1_000_000)}' || data.text AS t FROM readings`),
  'SQL: more than one megabyte': () => parseSql(`SELECT 1 ${' '.repeat(2_000_000)} FROM readings`),
  'SQL: subqueries in subqueries': () =>
    parseSql(
      Array.from({ length: 30 }).reduce<string>(
        (inner) => `SELECT count(*) AS n FROM readings a WHERE a.data.i > (${inner})`,
        'SELECT max(data.i) AS n FROM readings',
      ),
    ),
  'SQL: unions of unions': () =>
    parseSql(
      `SELECT count(*) AS n FROM (${Array.from({ length: 2_000 }, () => 'SELECT a.data.i AS i FROM readings a, readings b').join(' UNION ALL ')}) AS u`,
    ),
  'SQL: 10,000 levels': () => parseSql(`SELECT ${'ABS('.repeat(10_000)}1${')'.repeat(10_000)} FROM readings`),
  'nested conditions, three times each': () => mql([{ $project: { x: twice(9) } }]),
  'MQL: 5,000 stages': () => mql(Array.from({ length: 5_000 }, () => ({ $unwind: '$data' }))),
};

/** 16 million characters in total, from a query that contains the text once. */
const longText = 'a'.repeat(900_000);

function mql(stages: Stages): Plan {
  return parseMql(stages.map((stage) => encodeBson(bson(stage) as BsonDocument)));
}

function range(end: number): Record<string, unknown> {
  return { $range: [0, end] };
}

function loops(depth: number): Record<string, unknown> {
  return { $filter: { input: range(30_000), cond: depth === 0 ? false : { $eq: [-1, { $size: loops(depth - 1) }] } } };
}

function sums(depth: number): Record<string, unknown> {
  const inner = depth === 0 ? 1 : sums(depth - 1);
  return { $reduce: { input: range(10_000), initialValue: 0, in: { $add: ['$$value', inner] } } };
}

function doubling(a: unknown): Stages {
  return Array.from({ length: 50 }, () => ({ $addFields: { a } }));
}

function lets(depth: number): unknown {
  return depth === 0 ? '$data.text' : { $let: { vars: { v: lets(depth - 1) }, in: { $concat: ['$$v', '$$v'] } } };
}

function twice(depth: number): unknown {
  const inner = depth === 0 ? '$data.i' : twice(depth - 1);
  return depth === 0 ? inner : { $cond: [{ $gt: [inner, 1] }, inner, inner] };
}
