import { expect, test } from 'vitest';
import type { BsonDocument } from '../../bson/value.ts';
import { doc, refusalOf, runMql } from '../../testing/run.ts';

const point = (...coordinates: number[]): object => ({ type: 'Point', coordinates });
const rows = [
  { _id: 1, at: point(2, 0) },
  { _id: 2, at: point(0, 0) },
  { _id: 3, at: point(1, 0) },
  { _id: 4, name: 'nowhere' },
].map(doc);
const ids = (found: readonly BsonDocument[]): unknown[] =>
  found.map((row) => Number(JSON.parse(JSON.stringify(row.get('_id'))).value));

test('rows come in the order of their distance in metres, without those that have no place', async () => {
  const found = await runMql(rows, [
    { $geoNear: { near: point(0, 0), distanceField: 'far.by', key: 'at', includeLocs: 'place' } },
  ]);
  expect(ids(found)).toEqual([2, 3, 1]);
  expect(found[1]).toEqual(doc({ _id: 3, at: point(1, 0), far: { by: 111318.84502145034 }, place: point(1, 0) }));
});

test('bounds apply to the distance before it is multiplied', async () => {
  const near = { near: point(0, 0), distanceField: 'km', distanceMultiplier: 0.001 };
  const found = await runMql(rows, [{ $geoNear: { ...near, minDistance: 1, maxDistance: 150_000 } }]);
  expect(found).toEqual([doc({ _id: 3, at: point(1, 0), km: 111.31884502145034 })]);
  expect(ids(await runMql(rows, [{ $geoNear: { ...near, query: { _id: { $ne: 2 } } } }]))).toEqual([3, 1]);
});

test('pairs of numbers are measured on the plane, or in radians on the sphere', async () => {
  const flat = [doc({ _id: 1, at: [3, 4] })];
  const near = { near: [0, 0], distanceField: 'd' };
  expect((await runMql(flat, [{ $geoNear: near }]))[0]!.get('d')).toBe(5);
  const radians = (await runMql(flat, [{ $geoNear: { ...near, spherical: true } }]))[0]!.get('d');
  expect(radians).toBeCloseTo(0.0872, 4);
});

test('a place inside a polygon is at distance 0, one beside a line at the distance of its nearest point', async () => {
  const square = {
    type: 'Polygon',
    coordinates: [
      [
        [0, 0],
        [4, 0],
        [4, 4],
        [0, 4],
        [0, 0],
      ],
    ],
  };
  const line = {
    type: 'LineString',
    coordinates: [
      [-10, 0],
      [10, 0],
    ],
  };
  const shapes = [doc({ _id: 1, at: square }), doc({ _id: 2, at: line })];
  const found = await runMql(shapes, [{ $geoNear: { near: point(1, 1), distanceField: 'd' } }]);
  expect(ids(found)).toEqual([1, 2]);
  expect(found[0]!.get('d')).toBe(0);
  expect(found[1]!.get('d')).toBeCloseTo(111318.845, 2);
});

test('$geoNear comes first; filters that keep everything may precede it', async () => {
  const near = { $geoNear: { near: point(0, 0), distanceField: 'd' } };
  expect(refusalOf({ $match: { a: 1 } }, near)).toMatchObject({ code: 40603, stage: 1, stageName: '$geoNear' });
  expect(ids(await runMql(rows, [{ $match: {} }, near, { $limit: 1 }]))).toEqual([2]);
});

test('without a key, places in arrays count if no field is one itself', async () => {
  const far = [
    { _id: 1, stops: [{ at: point(3, 0) }, { at: point(1, 0) }] },
    { _id: 2, at: [point(2, 0)] },
  ].map(doc);
  const near = { near: point(0, 0), distanceField: 'd', includeLocs: 'place' };
  const found = await runMql(far, [{ $geoNear: near }]);
  expect(ids(found)).toEqual([1, 2]);
  expect(found[0]!.get('place')).toEqual(doc(point(1, 0)));
});

test('$meta gives what was found for a row, even when its fields are gone', async () => {
  const near = { $geoNear: { near: point(0, 0), distanceMultiplier: 2 } };
  const meta = { far: { $meta: 'geoNearDistance' }, place: { $meta: 'geoNearPoint' } };
  const first = await runMql(rows, [near, { $limit: 1 }, { $project: { _id: 1, ...meta } }]);
  expect(first).toEqual([doc({ _id: 2, far: 0, place: point(0, 0) }).set('far', 0)]);
  const later = [{ $replaceWith: { n: '$_id' } }, { $set: { n: ['$n', 0] } }, { $unwind: '$n' }, { $skip: 2 }];
  const [third] = await runMql(rows, [near, ...later, { $project: { n: 1, far: meta.far } }]);
  expect(third).toEqual(doc({ n: 3, far: 111318.84502145034 }));
  const [group] = await runMql(rows, [near, { $group: { _id: null, most: { $max: meta.far } } }]);
  expect(group!.get('most')).toBe(222637.69004290068);
});

test('rows can be sorted by the distance again, after another order', async () => {
  const near = { $geoNear: { near: point(0, 0), distanceField: 'd' } };
  const sorts = [{ $sort: { _id: -1 } }, { $sort: { by: { $meta: 'geoNearDistance' } } }, { $limit: 2 }];
  const found = await runMql(rows, [near, ...sorts]);
  expect(ids(found)).toEqual([2, 3]);
  expect([...found[0]!.keys()]).toEqual(['_id', 'at', 'd']);
});

test.each([
  [{ $project: { d: { $meta: 'geoNearDistance' } } }],
  [{ $match: { $expr: { $gt: [{ $meta: 'geoNearDistance' }, 1] } } }],
  [{ $sort: { d: { $meta: 'geoNearDistance' } } }],
  [{ $group: { _id: null, p: { $first: { $meta: 'geoNearPoint' } } } }],
])('$meta is refused without a preceding $geoNear: %o', (stage) => {
  expect(refusalOf(stage)).toMatchObject({ code: 40218 });
  const near = { $geoNear: { near: point(0, 0) } };
  expect(refusalOf(near, { $group: { _id: '$at' } }, stage)).toMatchObject({ code: 40218, stage: 2 });
});

test('a literal is not a $meta expression', async () => {
  const meta = { $literal: { $meta: 'geoNearPoint' } };
  expect((await runMql(rows, [{ $project: { meta } }]))[0]!.get('meta')).toEqual(doc({ $meta: 'geoNearPoint' }));
});

test('the obsolete option uniqueDocs changes nothing', async () => {
  const near = { near: point(0, 0), distanceField: 'd', uniqueDocs: true };
  expect(ids(await runMql(rows, [{ $geoNear: near }, { $limit: 1 }]))).toEqual([2]);
});

test.each([
  [10065, 1],
  [5860400, {}],
  [5860401, { near: null }],
  [5860402, { near: '$at' }],
  [2, { near: [1] }],
  [2, { near: { type: 'Point', coordinates: [0, 91] } }],
  [16433, { near: [181, 0] }],
  [17444, { near: [0, 91], spherical: true }],
  [5626500, { near: [0, 0], query: { at: { $near: [0, 0] } } }],
  [5626500, { near: [0, 0], query: { at: { $geoNear: [0, 0] } } }],
  [14, { near: [0, 0], query: 1 }],
  [14, { near: [0, 0], key: 1 }],
  [14, { near: [0, 0], minDistance: 'a' }],
  [2, { near: [0, 0], maxDistance: -1 }],
  [16606, { near: [0, 0], distanceField: 1 }],
  [16607, { near: [0, 0], includeLocs: 1 }],
  [40227, { near: [0, 0], collation: {} }],
  [50856, { near: [0, 0], start: 1 }],
  [50857, { near: [0, 0], num: 1 }],
  [50858, { near: [0, 0], limit: 1, distanceField: 1 }],
])('refused with code %i: %o', (code, spec) => {
  expect(refusalOf({ $geoNear: spec })).toMatchObject({ code });
});
