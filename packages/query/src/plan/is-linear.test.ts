import { expect, test } from 'vitest';
import { parseMql } from '../mql/parse.ts';
import { parseSql } from '../sql/parse.ts';
import { doc } from '../testing/run.ts';
import { isLinear } from './is-linear.ts';

const light = (...pipeline: object[]): boolean => isLinear(parseMql(pipeline.map(doc)).stages);

test('plans that filter, order, fold and pick fields are linear', () => {
  expect(light()).toBe(true);
  expect(light({ $match: { a: { $gt: 1 }, b: { $elemMatch: { c: 1 } } } }, { $sort: { a: 1 } }, { $limit: 3 })).toBe(
    true,
  );
  expect(light({ $group: { _id: '$a', n: { $sum: 1 }, all: { $push: '$b' } } })).toBe(true);
  expect(light({ $project: { a: 1, b: '$data.x', c: { $add: ['$y', 1] } } })).toBe(true);
  expect(light({ $count: 'n' })).toBe(true);
  const sql = 'SELECT part_id, COUNT(*) AS n FROM readings WHERE data.x > 1 GROUP BY part_id ORDER BY n';
  expect(isLinear(parseSql(sql).stages)).toBe(true);
});

test('plans that build values or copy the whole row are not linear', () => {
  expect(light({ $addFields: { a: { $concat: ['$a', '$a'] } } })).toBe(false);
  expect(light({ $addFields: { a: ['$a', '$a'] } })).toBe(false);
  expect(light({ $addFields: { a: '$$ROOT' } })).toBe(false);
  expect(light({ $addFields: { a: { b: '$a' } } })).toBe(false);
  expect(light({ $replaceRoot: { newRoot: { r: { a: '$r', b: '$r' } } } })).toBe(false);
  const twice = { $group: { _id: { a: '$_id', b: '$_id' } } };
  expect([light(twice), light(twice, twice)]).toEqual([true, false]);
  expect(light({ $project: { n: { $size: { $map: { input: '$a', in: '$$this' } } } } })).toBe(false);
  expect(light({ $match: { $expr: { $let: { vars: { a: '$a' }, in: '$$a' } } } })).toBe(false);
  expect(light({ $group: { _id: null, all: { $push: '$$ROOT' } } })).toBe(false);
  const newest = { $group: { _id: '$a', row: { $first: '$$ROOT' } } };
  expect([light({ $sort: { t: -1 } }, newest), light(newest, newest)]).toEqual([true, false]);
  expect(light({ $group: { _id: '$a', row: { $first: '$$ROOT' }, again: { $last: '$$ROOT' } } })).toBe(false);
  const n = { $cond: [{ $eq: [{ $concat: ['$g', '$g'] }, 'aa'] }, 1, 2] };
  expect(light({ $group: { _id: '$g', all: { $firstN: { n, input: '$a' } } } })).toBe(false);
  expect(light({ $group: { _id: '$g', all: { $firstN: { n: 2, input: '$a' } } } })).toBe(true);
});
