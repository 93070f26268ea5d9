import { expect, test } from 'vitest';
import { parseMql } from '../../mql/parse.ts';
import { doc, run } from '../../testing/run.ts';
import { countDistinct } from './count-distinct.ts';

const group = { $group: { _id: '$k', s: { $addToSet: '$v' }, n: { $sum: 1 } } };
const size = { $size: '$s' };
const rows = [{ k: 'a', v: 1 }, { k: 'a', v: 1 }, { k: 'a', v: 'x' }, { k: 'b', v: null }, { k: 'b' }].map(doc);

test.each([
  ['is counted', [group, { $project: { c: size } }]],
  ['is counted', [group, { $match: { $expr: { $gt: [size, 1] } } }, { $replaceWith: { c: { $add: [size, 1] } } }]],
  [
    'is counted',
    [group, { $sort: { n: 1 } }, { $group: { _id: null, most: { $max: size } } }, { $addFields: { s: '$most' } }],
  ],
  ['is built', [group]],
  ['is built', [group, { $addFields: { c: size } }]],
  ['is built', [group, { $project: { c: size, s: 1 } }]],
  ['is built', [group, { $project: { c: size, first: { $first: '$s' } } }]],
  ['is built', [group, { $sort: { s: 1 } }, { $project: { c: size } }]],
  ['is built', [group, { $match: { 's.0': 1 } }, { $project: { c: size } }]],
  ['is built', [group, { $replaceWith: { c: size, row: '$$ROOT' } }]],
  ['is built', [group, { $unwind: '$s' }, { $project: { c: '$s' } }]],
])('a set %s: %j', async (way, pipeline) => {
  const { stages } = parseMql(pipeline.map(doc));
  const sized = countDistinct(stages);
  expect(JSON.stringify(sized).includes('"setSize"')).toBe(way === 'is counted');
  expect(await run(rows, sized)).toEqual(await run(rows, stages));
});
