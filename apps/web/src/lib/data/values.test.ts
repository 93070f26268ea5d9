import { expect, test } from 'vitest';
import { expressionOf, valuesOf } from './values.ts';

test('objects are unfolded; each value has its path in the reading', () => {
  expect(valuesOf({ readings: { heat: { upper: 180 }, door: true, list: [1], none: {} } })).toEqual([
    { name: 'heat.upper', path: ['readings', 'heat', 'upper'], value: 180 },
    { name: 'door', path: ['readings', 'door'], value: true },
    { name: 'list', path: ['readings', 'list'], value: [1] },
    { name: 'none', path: ['readings', 'none'], value: {} },
  ]);
  expect(valuesOf({ position: 7 })).toEqual([{ name: 'position', path: ['position'], value: 7 }]);
  expect(valuesOf({ readings: 7 })).toEqual([{ name: 'readings', path: ['readings'], value: 7 }]);
  expect([valuesOf(undefined), valuesOf(3), valuesOf([1])]).toEqual([[], [], []]);
});

test('a value is read by its path; a name with a dot or a dollar sign by $getField', () => {
  expect(expressionOf(['readings', 'heat', 'upper'])).toBe('$data.readings.heat.upper');
  expect(expressionOf(['a.b'])).toEqual({ $getField: { field: { $literal: 'a.b' }, input: '$data' } });
  expect(expressionOf(['readings', '$in'])).toEqual({
    $getField: {
      field: { $literal: '$in' },
      input: { $getField: { field: { $literal: 'readings' }, input: '$data' } },
    },
  });
});
