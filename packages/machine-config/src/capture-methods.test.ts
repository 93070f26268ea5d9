import { expect, test } from 'vitest';
import { captureMethodOf, captureMethodsOf } from './capture-methods.ts';

test("D12 a capture method is known with and without Get, under the specification's name", () => {
  expect(captureMethodOf('core:component:sensor', 'Readings')).toEqual({ name: 'Readings', kind: 'tabular' });
  expect(captureMethodOf('core:component:sensor', 'GetReadings')?.name).toBe('Readings');
  expect(captureMethodOf('core:component:camera', 'Images')).toEqual({ name: 'GetImages', kind: 'binary' });
  expect(captureMethodOf('core:component:arm', 'GetEndPosition')?.name).toBe('EndPosition');
  expect(captureMethodOf('core:component:arm', 'Readings')).toBeUndefined();
});

test('D12 a type that is not in the table is captured through DoCommand only', () => {
  expect(captureMethodsOf('acme:service:weather').map((method) => method.name)).toEqual(['DoCommand']);
  expect(captureMethodOf('acme:service:weather', 'Readings')).toBeUndefined();
});
