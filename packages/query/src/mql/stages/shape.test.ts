import { expect, test } from 'vitest';
import { parseDecimal } from '../../bson/decimal.ts';
import { doc, refusalOf, runMql } from '../../testing/run.ts';

const row = doc({ _id: 1, a: 1, b: 2, c: { x: 1, y: 2 } });

test('$project takes zero of any type as exclusion, and every other number as inclusion', async () => {
  const project = { c: parseDecimal('0.00'), b: 0 };
  expect(await runMql([row], [{ $project: project }])).toEqual([doc({ _id: 1, a: 1 })]);
  expect(await runMql([row], [{ $project: { a: Number.NaN } }])).toEqual([doc({ _id: 1, a: 1 })]);
});

test('{$meta: …} does not decide whether a $project includes or excludes', async () => {
  const meta = { $meta: 'randVal' };
  expect(await runMql([row], [{ $project: { c: 0, b: meta } }])).toEqual([doc({ _id: 1, a: 1 })]);
  expect(await runMql([row], [{ $project: { a: 1, b: meta } }])).toEqual([doc({ _id: 1, a: 1 })]);
});

test.each([
  [31253, { a: 0, b: 1 }],
  [31254, { b: '$c', a: 0 }],
  [31310, { a: 0, b: '$c' }],
  [31310, { a: 0, _id: 'x' }],
  [31310, { a: 0, b: ['$c'] }],
  [31252, { a: 0, b: { $literal: 1 } }],
  [31252, { a: 0, b: { $map: { input: [1], in: 1 } } }],
  [31324, { 'a.$': 1 }],
  [31324, { c: { 'x.$': '$b' } }],
  [31394, { 'a.$.b': 1 }],
  [31325, { a: { $foo: 1 } }],
  [31325, { a: { x: 1, $add: [1] } }],
  [31325, { a: { $add: [1], $subtract: [2, 1] } }],
  [168, { a: { $add: [{ $foo: 1 }] } }],
  // Of two errors, the first one counts.
  [31253, { a: 0, b: 1, '': 1 }],
])('$project refuses with code %i: %o', (code, spec) => {
  expect(refusalOf({ $project: spec })).toMatchObject({ code, stageName: '$project' });
});

test('$unset refuses a positional path like $project, $addFields like a name', () => {
  expect(refusalOf({ $unset: 'a.$' })).toMatchObject({ code: 31324 });
  expect(refusalOf({ $addFields: { 'a.$': 1 } })).toMatchObject({ code: 16410 });
});
