import { expect, test } from 'vitest';
import { nearestName } from './nearest-name.ts';

const known = ['data.readings.temperature', 'data.readings.humidity', 'component_name', 'cpu', 'gpu-2'];

test('the nearest name differs in a few letters, or has the same last part; otherwise there is none', () => {
  expect(nearestName('data.readings.temprature', known)).toBe('data.readings.temperature');
  expect(nearestName('data.temperature', known)).toBe('data.readings.temperature');
  expect(nearestName('Humidity', known)).toBe('data.readings.humidity');
  expect(nearestName('cpx', known)).toBe('cpu');
  expect(nearestName('voltage', known)).toBe(undefined);
  expect(nearestName('x'.repeat(10_000), known)).toBe(undefined);
});
