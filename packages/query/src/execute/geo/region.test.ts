import { expect, test } from 'vitest';
import { doc, refusalOf, runMql } from '../../testing/run.ts';

const at = (x: number, y: number): object => ({ type: 'Point', coordinates: [x, y] });
const line = (...coordinates: number[][]): object => ({ type: 'LineString', coordinates });
const outline = (low: number, high: number): number[][] => [
  [low, low],
  [high, low],
  [high, high],
  [low, high],
  [low, low],
];
const square = { type: 'Polygon', coordinates: [outline(0, 10)] };

/** The numbers of the places that a query selects. */
async function found(places: readonly unknown[], query: object): Promise<unknown[]> {
  const rows = places.map((place, n) => doc({ n, place }));
  const kept = await runMql(rows, [{ $match: { place: query } }, { $project: { n: 1 } }]);
  return kept.map((row) => Number((row.get('n') as { value: number }).value));
}

test('$geoWithin selects what lies completely in a polygon, outside its holes', async () => {
  const places = [at(5, 5), [5, 5], at(15, 5), line([1, 1], [2, 2]), line([1, 5], [15, 5]), at(-175, -5), 'x'];
  expect(await found(places, { $geoWithin: { $geometry: square } })).toEqual([0, 1, 3]);
  const ring = { type: 'Polygon', coordinates: [outline(0, 10), outline(4, 6)] };
  expect(await found([at(5, 5), at(1, 1), line([1, 5], [9, 5])], { $geoWithin: { $geometry: ring } })).toEqual([1]);
  const both = { type: 'MultiPolygon', coordinates: [[outline(0, 10)], [outline(20, 30)]] };
  expect(await found([at(5, 5), at(25, 25), at(15, 15)], { $geoWithin: { $geometry: both } })).toEqual([0, 1]);
});

test('edges of GeoJSON are arcs of great circles, those of $polygon are straight', async () => {
  const places = [at(5, 10.03), at(5, 10.05)];
  expect(await found(places, { $geoWithin: { $geometry: square } })).toEqual([0]);
  expect(await found(places, { $geoWithin: { $polygon: outline(0, 10) } })).toEqual([]);
});

test('$geoWithin supports boxes and circles, and arrays of places', async () => {
  const places = [[3, 4], at(4, 4), { x: 1, y: 1 }, [at(50, 50), at(1, 1)]];
  const corners = { $box: outline(0, 4).slice(0, 3).toSpliced(1, 1) };
  expect(await found(places, { $geoWithin: corners })).toEqual([0, 1, 2, 3]);
  expect(await found(places, { $geoWithin: { $center: [[0, 0], 5] } })).toEqual([0, 2, 3]);
  expect(await found(places, { $geoWithin: { $centerSphere: [[0, 0], 0.03] } })).toEqual([2, 3]);
});

test('$geoIntersects selects places that share a point with the region', async () => {
  const around = { type: 'Polygon', coordinates: [outline(-20, 20)] };
  const places = [at(5, 5), at(15, 5), line([-5, 5], [15, 5]), around, line([20, 0], [30, 5]), at(0, 0)];
  expect(await found(places, { $geoIntersects: { $geometry: square } })).toEqual([0, 2, 3, 5]);
  expect(await found([square, line([5, 0], [5, 9])], { $geoIntersects: { $geometry: at(5, 5) } })).toEqual([0, 1]);
});

test.each([
  { $geoWithin: {} },
  { $geoWithin: 1 },
  { $geoWithin: { $geometry: at(1, 1) } },
  { $geoWithin: { $geometry: { type: 'Polygon', coordinates: [outline(0, 1).slice(1)] } } },
  { $geoWithin: { $geometry: { type: 'Polygon', coordinates: [outline(0, 91)] } } },
  { $geoWithin: { $center: [[0, 0], -1] } },
  { $geoWithin: { $box: [[0, 0]] } },
  {
    $geoIntersects: {
      $box: [
        [0, 0],
        [1, 1],
      ],
    },
  },
])('an invalid region is refused: %o', (query) => {
  expect(refusalOf({ $match: { place: query } })).toMatchObject({ codeName: 'BadValue' });
});
