import { expect, test } from 'vitest';
import { decimalText, parseDecimal } from '../../bson/decimal.ts';
import { Binary, BsonDate, Decimal128, Int32, Timestamp } from '../../bson/value.ts';
import { codeOf, evaluate } from '../../testing/evaluate.ts';

test('$convert uses onNull for null and onError for failed conversions, but not for an invalid target type', async () => {
  const of = (more: object): unknown => ({ $convert: { input: '$v', to: 'int', ...more } });
  expect(await evaluate(of({ onNull: 'none' }))).toBe('none');
  expect(await evaluate(of({ onError: 'bad' }), { v: 'x' })).toBe('bad');
  expect(await evaluate(of({ to: null, onError: 'bad' }), { v: 'x' })).toBe(null);
  expect(await codeOf(of({ to: 'integer', onError: 'bad' }), { v: 1 })).toBe(2);
  expect(await codeOf(of({ to: 'regex' }), { v: 1 })).toBe(241);
  expect(await codeOf({ $convert: { input: 1 } })).toBe(9);
});

test('numbers are truncated, never wrapped around', async () => {
  expect(await evaluate({ $toInt: -1.9 })).toEqual(new Int32(-1));
  expect(await evaluate({ $toLong: '-0042' })).toBe(-42n);
  expect(await codeOf({ $toInt: 2147483648n })).toBe(241);
  expect(await codeOf({ $toInt: '1.5' })).toBe(241);
  expect(await codeOf({ $toLong: Number.NaN })).toBe(241);
  expect(await codeOf({ $toDouble: parseDecimal('1E+400') })).toBe(241);
  expect(await evaluate({ $toDouble: '+0x1.8p1' })).toBe(3);
  expect(await codeOf({ $toInt: [1, 2] })).toBe(50723);
});

test('$toDecimal truncates a text after 34 digits and refuses exponents out of range', async () => {
  const value = await evaluate({ $toDecimal: `1.${'0'.repeat(33)}9` });
  expect(value instanceof Decimal128 && decimalText(value)).toBe(`1.${'0'.repeat(33)}`);
  expect(await codeOf({ $toDecimal: '1E-6177' })).toBe(241);
  expect(await codeOf({ $toDecimal: '1E+6145' })).toBe(241);
});

test('texts with a base are read and written as whole numbers of 64 bits', async () => {
  expect(await evaluate({ $convert: { input: '-ff', to: 'long', base: 16 } })).toBe(-255n);
  expect(await evaluate({ $convert: { input: 10, to: 'string', base: 2 } })).toBe('1010');
  expect(await codeOf({ $convert: { input: 1.5, to: 'string', base: 2 } })).toBe(241);
  expect(await codeOf({ $convert: { input: '1', to: 'int', base: 3 } })).toBe(3501301);
});

test('conversions between bytes and texts need a format, between bytes and numbers a byte order', async () => {
  const bytes = new Binary(Uint8Array.of(0xfb, 0xff));
  const of = (input: unknown, to: unknown, more = {}): unknown => ({ $convert: { input, to, ...more } });
  expect(await codeOf(of(bytes, 'string'))).toBe(4341115);
  expect(await evaluate(of(bytes, 'string', { format: 'base64url' }))).toBe('-_8');
  expect(await evaluate(of('-_8', 'binData', { format: 'base64url' }))).toEqual(bytes);
  expect(await evaluate(of('fbFF', 'binData', { format: 'hex' }))).toEqual(bytes);
  expect(await codeOf(of(bytes, 'string', { format: 'utf8' }))).toBe(241);
  expect(await evaluate(of(bytes, 'int'))).toEqual(new Int32(-5));
  expect(await evaluate(of(bytes, 'int', { byteOrder: 'big' }))).toEqual(new Int32(-1025));
  expect(await evaluate(of(258, { type: 'binData', subtype: 128 }))).toEqual(
    new Binary(Uint8Array.of(2, 1, 0, 0), 128),
  );
  expect(await codeOf(of(1, { type: 'binData', subtype: 10 }))).toBe(4341107);
});

test('a UUID is a text of five groups and bytes of subtype 4', async () => {
  const text = '01020304-0506-0708-090a-0b0c0d0e0f10';
  const id = await evaluate({ $toUUID: text });
  expect(id).toEqual(
    new Binary(
      Uint8Array.from({ length: 16 }, (_, index) => index + 1),
      4,
    ),
  );
  expect(await evaluate({ $toString: { $toUUID: text } })).toBe(text);
  expect(await codeOf({ $toUUID: 'no' })).toBe(241);
});

test('dates are read from int64 and texts but not from int32', async () => {
  expect(await evaluate({ $toDate: 1500n })).toEqual(new BsonDate(1500));
  expect(await codeOf({ $toDate: 1500 })).toBe(241);
  expect(await evaluate({ $toDate: '2024-06-15\t12:30:45Z\n' })).toEqual(new BsonDate(1718454645000));
  expect(await codeOf({ $toDate: '2024' })).toBe(241);
  expect(await codeOf({ $toString: new BsonDate(253402300800000) })).toBe(18537);
});

test('timestamps consist of seconds and an ordinal', async () => {
  const value = new Timestamp((4000000000n << 32n) | 7n);
  expect(await evaluate({ $tsSecond: value })).toBe(4000000000n);
  expect(await evaluate({ $tsIncrement: value })).toBe(7n);
  expect(await codeOf({ $tsSecond: 1 })).toBe(5687301);
});
