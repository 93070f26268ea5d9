import { Binary, BsonDate, BsonDocument, type BsonValue, Int32, ObjectId, Regex, Timestamp } from '@platform/query';
import { expect, test } from 'vitest';
import { jsonText } from './json-rows.ts';

test.each<[BsonValue, string]>([
  [1.5, '1.5'],
  [9_007_199_254_740_993n, '9007199254740993'],
  [new Int32(-7), '-7'],
  [Number.NaN, '"NaN"'],
  [Number.NEGATIVE_INFINITY, '"-Infinity"'],
  ['a"\n\ud800', '"a\\"\\n\ufffd"'],
  [new BsonDate(1_700_000_000_123), '"2023-11-14T22:13:20.123Z"'],
  [new BsonDate(9_000_000_000_000_000), '{"$date":{"$numberLong":"9000000000000000"}}'],
  [new Binary(new Uint8Array([255, 0])), '"/wA="'],
  [new ObjectId(new Uint8Array(12).fill(0xab)), '"abababababababababababab"'],
  [new Regex('a.b', 'i'), '{"$regularExpression":{"pattern":"a.b","options":"i"}}'],
  [new Timestamp((5n << 32n) | 2n), '{"$timestamp":{"t":5,"i":2}}'],
  [BsonDocument.of({ z: [null, true], a: BsonDocument.of({}) }), '{"z":[null,true],"a":{}}'],
])('%o is %s', (value, text) => {
  expect(jsonText(value)).toBe(text);
  expect(() => JSON.parse(text)).not.toThrow();
});
