import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimalText, parseDecimal } from './decimal.ts';
import { add, decimalOfDouble, divide, multiply, quantized, remainder, subtract } from './decimal-arithmetic.ts';
import type { Decimal128 } from './value.ts';

const of = (text: string): Decimal128 => parseDecimal(text)!;

function apply(run: (...values: Decimal128[]) => Decimal128, ...texts: string[]): string {
  return decimalText(run(...texts.map(of)));
}

test('sums and products are exact within 34 digits, then rounded half to even', () => {
  expect(apply(add, '0.1', '0.2')).toBe('0.3');
  expect(apply(add, '1E+33', '0.5')).toBe('1000000000000000000000000000000000');
  expect(apply(add, '1000000000000000000000000000000001', '0.5')).toBe('1000000000000000000000000000000002');
  expect(apply(add, '1E+6000', '1E-6000')).toBe('1.000000000000000000000000000000000E+6000');
  expect(apply(multiply, '1.50', '2.0')).toBe('3.000');
  expect(apply(multiply, '9.999999999999999999999999999999999E+6144', '10')).toBe('Infinity');
  expect(apply(multiply, '1E-6176', '0.5')).toBe('0E-6176');
});

test('numbers far apart are added quickly, with the same result as in full', () => {
  expect(apply(subtract, '1E+6000', '1E-6000')).toBe('1.000000000000000000000000000000000E+6000');
  expect(apply(add, '1000000000000000000000000000000000.5E+200', '1')).toBe('1.000000000000000000000000000000000E+233');
  expect(apply(add, '1.0000000000000000000000000000000005', '1E-200')).toBe('1.000000000000000000000000000000000');
  expect(apply(add, '0E+6000', '7E-6000')).toBe('7E-6000');
  expect(apply(add, '7', '0E-6000')).toBe('7.000000000000000000000000000000000');
  const tie = '50000000000000000000000000000000050';
  expect(apply(add, `${tie.slice(0, 34)}E+200`, '5E+199')).toBe(apply(add, `${tie.slice(0, 34)}0E+199`, '5E+199'));
});

test('only the first digits of a text of a million digits are read', () => {
  expect(decimalText(of(`${'0'.repeat(1e6)}1.${'0'.repeat(1e6)}1`))).toBe('1.000000000000000000000000000000000');
  expect(decimalText(of(`${'9'.repeat(6000)}`))).toBe('1.000000000000000000000000000000000E+6000');
});

test('a zero keeps the sign that IEEE 754 gives it', () => {
  expect(apply(subtract, '1', '1')).toBe('0');
  expect(apply(add, '-0', '-0')).toBe('-0');
  expect(apply(multiply, '-0', '5')).toBe('-0');
});

test('exact quotients are short, others have 34 digits', () => {
  expect(apply(divide, '10', '4')).toBe('2.5');
  expect(apply(divide, '6.00', '2')).toBe('3.00');
  expect(apply(divide, '2', '3')).toBe('0.6666666666666666666666666666666667');
  expect(apply(divide, '-1', '0')).toBe('-Infinity');
  expect(apply(divide, '0', '0')).toBe('NaN');
});

test('a remainder has the sign of the dividend, however large the dividend is', () => {
  expect(apply(remainder, '-7.5', '2')).toBe('-1.5');
  expect(apply(remainder, '1E+6144', '7')).toBe(String(10n ** 6144n % 7n));
  expect(apply(remainder, '5', 'Infinity')).toBe('5');
});

test('rounding to a place pads with zeros, and gives NaN if 34 digits do not suffice', () => {
  expect(decimalText(quantized(of('1.25'), -1, 'halfEven'))).toBe('1.2');
  expect(decimalText(quantized(of('-1.25'), -1, 'floor'))).toBe('-1.3');
  expect(decimalText(quantized(of('1.1'), -4, 'down'))).toBe('1.1000');
  expect(decimalText(quantized(of('1E+40'), 0, 'down'))).toBe('NaN');
});

test('a double becomes a decimal of 15 digits', () => {
  expect([0.1, 2.5, 123456789012345680, -0].map((each) => decimalText(decimalOfDouble(each)))).toEqual([
    '0.100000000000000',
    '2.50000000000000',
    '1.23456789012346E+17',
    '-0',
  ]);
});

test('whole decimals count as whole numbers', () => {
  const whole = fc.bigInt({ min: -(10n ** 16n), max: 10n ** 16n });
  fc.assert(
    fc.property(whole, whole, (a, b) => {
      expect(apply(add, `${a}`, `${b}`)).toBe(`${a + b}`);
      expect(apply(multiply, `${a}`, `${b}`).replace('-0', '0')).toBe(`${a * b}`);
      if (b !== 0n) expect(apply(remainder, `${a}`, `${b}`).replace(/^-0$/, '0')).toBe(`${a % b}`);
    }),
  );
});
