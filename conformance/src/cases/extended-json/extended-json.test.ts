import { Binary, BsonDocument, Decimal128, Int32, ObjectId, Timestamp } from '@platform/query';
import { expect, test } from 'vitest';
import { decodeExtended } from './decode.ts';
import { encodeExtended } from './encode.ts';
import { readJson } from './read-json.ts';

/** Canonical texts of one value of each type and of the special numbers. */
const canonical = [
  'null',
  'true',
  '"plain \\"text\\" with ü and \\u0001"',
  '{"$numberInt":"-2147483648"}',
  '{"$numberLong":"9223372036854775807"}',
  '{"$numberDouble":"1.0"}',
  '{"$numberDouble":"-0.0"}',
  '{"$numberDouble":"NaN"}',
  '{"$numberDouble":"-Infinity"}',
  '{"$numberDouble":"1e+300"}',
  '{"$numberDouble":"0.1"}',
  '{"$numberDecimal":"1.00"}',
  '{"$numberDecimal":"-0"}',
  '{"$numberDecimal":"NaN"}',
  '{"$numberDecimal":"-Infinity"}',
  '{"$numberDecimal":"9.999999999999999999999999999999999E+6144"}',
  '{"$oid":"0123456789abcdef01234567"}',
  '{"$date":{"$numberLong":"-1"}}',
  '{"$binary":{"base64":"AQID","subType":"80"}}',
  '{"$binary":{"base64":"AQID","subType":"02"}}',
  '{"$regularExpression":{"pattern":"^a","options":"im"}}',
  '{"$timestamp":{"t":4294967295,"i":7}}',
  '{"$symbol":"s"}',
  '{"$code":"f()"}',
  '{"$code":"f()","$scope":{"x":{"$numberInt":"1"}}}',
  '{"$dbPointer":{"$ref":"db.c","$id":{"$oid":"0123456789abcdef01234567"}}}',
  '{"$minKey":1}',
  '{"$maxKey":1}',
  '{"$undefined":true}',
  '[[],{},{"b":[null],"0":{"$numberInt":"1"}}]',
];

test.each(canonical)('%s is read and written unchanged', (text) => {
  expect(encodeExtended(decodeExtended(readJson(text)))).toBe(text);
});

test('a relaxed date, a UUID and a bare number are read', () => {
  expect(written('{"$date":"1970-01-01T00:00:01Z"}')).toBe('{"$date":{"$numberLong":"1000"}}');
  expect(written('{"$uuid":"00112233-4455-6677-8899-aabbccddeeff"}')).toBe(
    '{"$binary":{"base64":"ABEiM0RVZneImaq7zN3u/w==","subType":"04"}}',
  );
  expect(written('[1, 1.5, 3000000000]')).toBe(
    '[{"$numberInt":"1"},{"$numberDouble":"1.5"},{"$numberDouble":"3000000000.0"}]',
  );
});

test('operators that look like values stay documents', () => {
  const operator = decodeExtended(readJson('{"$regex":"a","$options":"i"}'));
  expect(operator).toEqual(BsonDocument.of({ $regex: 'a', $options: 'i' }));
  expect(decodeExtended(readJson('{"$date":"$a","x":1}'))).toBeInstanceOf(BsonDocument);
});

test('an old binary has its length before its bytes, as on the wire', () => {
  const old = decodeExtended(readJson('{"$binary":{"base64":"AQID","subType":"02"}}'));
  expect(old).toEqual(new Binary(Uint8Array.of(3, 0, 0, 0, 1, 2, 3), 2));
});

test('values get the classes of the query package', () => {
  expect(decodeExtended(readJson('{"$numberInt":"7"}'))).toEqual(new Int32(7));
  expect(decodeExtended(readJson('{"$oid":"0123456789abcdef01234567"}'))).toBeInstanceOf(ObjectId);
  expect(decodeExtended(readJson('{"$numberDecimal":"1"}'))).toBeInstanceOf(Decimal128);
  expect(decodeExtended(readJson('{"$timestamp":{"t":1,"i":2}}'))).toEqual(new Timestamp((1n << 32n) | 2n));
});

test.each(['', '{', '{"a"}', '[1,]', '[1 2]', 'nul', '"a', '1 1', '{"a":1,}', '{,}'])('%j is not JSON', (text) => {
  expect(() => readJson(text)).toThrow(SyntaxError);
});

test.each(['{"$numberLong":1}', '{"$binary":"x"}', '{"$date":{"$numberLong":"x"}}'])('%s is refused', (text) => {
  expect(() => decodeExtended(readJson(text))).toThrow(Error);
});

function written(text: string): string {
  return encodeExtended(decodeExtended(readJson(text)));
}
