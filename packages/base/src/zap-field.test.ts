import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readLogField, zapField } from './zap-field.ts';

test('any field of a log line survives the conversion to the shape that public clients read and back', () => {
  const value = fc.oneof(
    fc.string(),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    fc.constant(null),
    fc.array(fc.maxSafeInteger()),
    fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }),
  );
  fc.assert(
    fc.property(fc.string(), value, (key, one) => {
      const sent = JSON.parse(JSON.stringify(zapField(key, one))) as Record<string, unknown>;
      expect(readLogField(sent)).toEqual([[key, JSON.parse(JSON.stringify(one))]]);
    }),
  );
});

test('values get the types of zap', () => {
  expect(zapField('a', 'b')).toEqual({ Key: 'a', Type: 15, Integer: 0, String: 'b', Interface: null });
  expect(zapField('a', true)).toMatchObject({ Type: 4, Integer: 1 });
  expect(zapField('a', -3)).toMatchObject({ Type: 11, Integer: -3 });
  expect(zapField('a', 2.5)).toMatchObject({ Type: 9, String: '2.5' });
  expect(zapField('a', 1e300)).toMatchObject({ Type: 9, String: '1e+300' });
  expect(zapField('a', 7n)).toMatchObject({ Type: 11, Integer: 7 });
  expect(zapField('a', 2n ** 63n)).toMatchObject({ Type: 15, String: '9223372036854775808' });
  expect(zapField('a', undefined)).toMatchObject({ Type: 23, Interface: null });
  expect(zapField('a', { b: 1n })).toMatchObject({ Type: 23, Interface: { b: 1 } });
});

test('fields that public servers send are read according to their type', () => {
  const read = (Type: number, rest: object): unknown => readLogField({ Key: 'k', Type, ...rest })[0]?.[1];
  expect(read(8, { Integer: 1_500_000_000 })).toBe('1.5s');
  expect(read(9, { String: '0.250000' })).toBe(0.25);
  expect(read(9, { Integer: 2 ** 62 })).toBe(2);
  expect(read(9, { String: 'NaN' })).toBe('NaN');
  expect(read(10, { Integer: 1_069_547_520 })).toBe(1.5);
  expect(read(16, { Integer: 1_700_000_000_000_000_000 })).toBe('2023-11-14T22:13:20.000Z');
  // A time that does not fit into nanoseconds.
  expect(read(17, { Interface: '0001-01-01T00:00:00Z' })).toBe('0001-01-01T00:00:00Z');
  for (const unsigned of [18, 19, 20, 21, 22]) expect(read(unsigned, { Integer: 5 })).toBe(5);
  expect(read(26, { String: 'refused' })).toBe('refused');
  expect(read(1, { Interface: ['a'] })).toEqual(['a']);
  expect(readLogField({ pressure: 2.5, unit: 'bar' })).toEqual([
    ['pressure', 2.5],
    ['unit', 'bar'],
  ]);
});
