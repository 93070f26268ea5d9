import {
  Binary,
  BsonDate,
  BsonDocument,
  type BsonValue,
  Decimal128,
  decodeBson,
  encodeBson,
  Int32,
  MaxKey,
  Regex,
  Timestamp,
} from '@platform/query';
import { Decimal128 as BsonDecimal } from 'bson';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { downgradeBson, needsDowngrade } from './downgrade-bson.ts';

function downgraded(fields: Record<string, BsonValue>): BsonDocument {
  return decodeBson(downgradeBson(encodeBson(BsonDocument.of(fields))));
}

function decimal(text: string): Decimal128 {
  return new Decimal128(new Uint8Array(BsonDecimal.fromString(text).bytes));
}

test('D7 Decimal128 becomes a double if that is exact, otherwise a string', () => {
  const cases: [string, BsonValue][] = [
    ['1.5', 1.5],
    ['100', 100],
    ['1E+3', 1000],
    ['0.1', '0.1'],
    ['-0.250', -0.25],
    ['9007199254740993', '9007199254740993'],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['1E+400', '1E+400'],
    ['0', 0],
  ];
  for (const [text, expected] of cases) expect(downgraded({ v: decimal(text) }).get('v'), text).toEqual(expected);
});

test('D7 exactness is judged by every digit, for any double', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e12, max: 1e12 }), (number) => {
      const text = number.toPrecision(17);
      const value = downgraded({ v: decimal(text) }).get('v');
      if (typeof value === 'number') expect(value).toBe(Number(text));
      else expect(Number(value)).toBe(number);
    }),
  );
});

test('D7 other exotic types become Extended JSON, at any depth, and nothing else changes', () => {
  const row = downgraded({
    list: [new Regex('a', 'i'), BsonDocument.of({ max: new MaxKey() })],
    bytes: new Binary(Uint8Array.of(1, 2), 0),
    time: new Timestamp((5n << 32n) | 7n),
    n: new Int32(1),
    at: new BsonDate(3),
    long: 5n,
  });
  const expected = BsonDocument.of({
    list: [
      BsonDocument.of({ $regularExpression: BsonDocument.of({ pattern: 'a', options: 'i' }) }),
      BsonDocument.of({ max: BsonDocument.of({ $maxKey: 1 }) }),
    ],
    bytes: BsonDocument.of({ $binary: BsonDocument.of({ base64: 'AQI=', subType: '00' }) }),
    time: BsonDocument.of({ $timestamp: BsonDocument.of({ t: 5, i: 7 }) }),
    n: new Int32(1),
    at: new BsonDate(3),
    long: 5n,
  });
  expect(row).toEqual(expected);
  const plain = encodeBson(BsonDocument.of({ a: 1, b: [new BsonDate(1)] }));
  expect(downgradeBson(plain)).toBe(plain);
});

test('D7 only public TypeScript clients get such answers', () => {
  expect(needsDowngrade(new Headers({ viam_client: 'typescript;v0.61.1;v0.1.512' }))).toBe(true);
  expect(needsDowngrade(new Headers({ viam_client: 'python;v0.80.0;vv0.1.577' }))).toBe(false);
  expect(needsDowngrade(new Headers())).toBe(false);
});
