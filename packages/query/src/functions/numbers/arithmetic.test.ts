import { expect, test } from 'vitest';
import { decimalText, parseDecimal } from '../../bson/decimal.ts';
import { BsonDate, Decimal128, Int32 } from '../../bson/value.ts';
import { codeOf, evaluate } from '../../testing/evaluate.ts';

const decimal = (text: string): Decimal128 => parseDecimal(text)!;

async function text(expression: unknown): Promise<string> {
  const value = await evaluate(expression);
  return value instanceof Decimal128 ? decimalText(value) : `not a decimal: ${String(value)}`;
}

test('int32 grows to int64, int64 to a double, and a decimal makes all decimal', async () => {
  expect(await evaluate({ $add: [2147483647, 1] })).toBe(2147483648n);
  expect(await evaluate({ $add: [9223372036854775807n, 1] })).toBe(2 ** 63);
  expect(await evaluate({ $multiply: [3037000500n, 3037000500n] })).toBe(9223372037000250000);
  expect(await evaluate({ $subtract: [5n, 3] })).toBe(2n);
  expect(await text({ $add: [decimal('2'), 6, 0] })).toBe('8');
  expect(await text({ $add: [decimal('0'), 3.14] })).toBe('3.140000000000000124344978758017533');
  expect(await text({ $subtract: [3.5, decimal('0')] })).toBe('3.50000000000000');
  expect(await evaluate({ $add: [1e100, 1, -1e100] })).toBe(1);
  expect(await text({ $divide: [decimal('1'), 3] })).toBe('0.3333333333333333333333333333333333');
});

test('null ends an arithmetic expression before a later operand is checked', async () => {
  expect(await evaluate({ $add: [1, '$missing', '$text'] }, { text: 'x' })).toBe(null);
  expect(await codeOf({ $add: ['$text', '$missing'] }, { text: 'x' })).toBe(14);
});

test('milliseconds added to dates are rounded; dates subtract to int64', async () => {
  const day = new BsonDate(1000);
  expect(await evaluate({ $add: [day, 2.5] })).toEqual(new BsonDate(1003));
  expect(await evaluate({ $subtract: [day, -0.5] })).toEqual(new BsonDate(1001));
  expect(await evaluate({ $subtract: [day, new BsonDate(400)] })).toBe(600n);
  expect(await codeOf({ $add: [day, day] })).toBe(16612);
  expect(await codeOf({ $add: [day, Number.NaN] })).toBe(15);
});

test('$pow stays an integer as long as 64 bits suffice', async () => {
  expect(await evaluate({ $pow: [-2, 31] })).toEqual(new Int32(-2147483648));
  expect(await evaluate({ $pow: [3, 39] })).toBe(4052555153018976267n);
  expect(await evaluate({ $pow: [10, 30] })).toBe(1e30);
  expect(await evaluate({ $pow: [2, -1] })).toBe(0.5);
  expect(await codeOf({ $pow: [0, -1] })).toBe(28764);
});

test('$mod and $divide refuse zero, with their own codes', async () => {
  expect(await codeOf({ $mod: [1, 0] })).toBe(16610);
  expect(await codeOf({ $divide: [1, decimal('0E+3')] })).toBe(2);
  expect(await evaluate({ $mod: [-7, 4n] })).toBe(-3n);
});

test('$round rounds half to even, based on the exact value of the double', async () => {
  expect(await evaluate({ $round: [2.675, 2] })).toBe(2.67);
  expect(await evaluate({ $round: [-2.5] })).toBe(-2);
  expect(await evaluate({ $round: [155, -1] })).toEqual(new Int32(160));
  expect(await evaluate({ $trunc: [-1.99, 1] })).toBe(-1.9);
  expect(await codeOf({ $round: [9223372036854775807n, -1] })).toBe(51080);
  expect(await text({ $round: [decimal('1.1'), 3] })).toBe('1.100');
  expect(await text({ $round: [decimal('12.5'), 40] })).toBe('12.50000000000000000000000000000000');
  expect(await text({ $ceil: decimal('Infinity') })).toBe('NaN');
});

test('bits of int32 and int64', async () => {
  expect(await evaluate({ $bitAnd: [12, 10n] })).toBe(8n);
  expect(await evaluate({ $bitXor: [-1, 5] })).toEqual(new Int32(-6));
  expect(await evaluate({ $bitOr: [] })).toEqual(new Int32(0));
  expect(await evaluate({ $bitNot: 0n })).toBe(-1n);
  expect(await codeOf({ $bitAnd: [1, 1.0 + Number.EPSILON] })).toBe(14);
});

test('logarithms and angles refuse values outside their domain', async () => {
  expect(await codeOf({ $ln: 0 })).toBe(28766);
  expect(await codeOf({ $log: [10, 1] })).toBe(28759);
  expect(await codeOf({ $sqrt: -1n })).toBe(28714);
  expect(await codeOf({ $acos: 1.5 })).toBe(50989);
  expect(await codeOf({ $sin: Number.POSITIVE_INFINITY })).toBe(50989);
  expect(await evaluate({ $ln: Number.NaN })).toBe(Number.NaN);
  expect(await text({ $degreesToRadians: decimal('180') })).toBe('3.141592653589793238462643383279503');
});

test('$rand gives another number for each evaluation, from 0 up to 1', async () => {
  const drawn = await evaluate({ $map: { input: { $range: [0, 50] }, in: { $rand: {} } } });
  expect(new Set(Array.isArray(drawn) ? drawn : []).size).toBe(50);
  expect(await codeOf({ $rand: [1] })).toBe(3040501);
});

test('a non-numeric operand is reported before the next one is found null', async () => {
  expect(await codeOf({ $round: ['$a', null] }, { a: 'x' })).toBe(51081);
  expect(await codeOf({ $atan2: ['$a', null] }, { a: 'x' })).toBe(51044);
  expect(await evaluate({ $atan2: [null, 'x'] })).toBe(null);
});
