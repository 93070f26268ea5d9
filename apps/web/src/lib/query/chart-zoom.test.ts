import { afterEach, expect, test } from 'vitest';
import { setZoom, spanOfZoom, zoomOf } from './chart-zoom.ts';

afterEach(() => setZoom('', undefined));

test('all charts of a page have one zoom, and the next page has none', () => {
  setZoom('/o/mill/data', { min: 1, max: 2 });
  expect(zoomOf('/o/mill/data')).toMatchObject({ min: 1, max: 2 });
  expect(zoomOf('/o/mill/query')).toBeUndefined();
  setZoom('/o/mill/data', undefined);
  expect(zoomOf('/o/mill/data')).toBeUndefined();
});

test('a part that is kept has all points that were shown, the last one included', () => {
  expect(spanOfZoom({ min: 10.4, max: 12 })).toEqual({ from: new Date(10_000), until: new Date(13_000) });
  expect(spanOfZoom({ min: 10.4, max: 10.6 })).toEqual({ from: new Date(10_000), until: new Date(11_000) });
});
