import { expect, test } from 'vitest';
import { decimalText, parseDecimal } from './decimal.ts';
import {
  decimalAtan2,
  decimalExp,
  decimalLn,
  decimalLog10,
  decimalPow,
  decimalReal,
  decimalSqrt,
  type RealName,
} from './decimal-functions.ts';
import type { Decimal128 } from './value.ts';

function apply(run: (...values: Decimal128[]) => Decimal128, ...texts: string[]): string {
  return decimalText(run(...texts.map((text) => parseDecimal(text)!)));
}

test('square roots are exact, and short if they are rational', () => {
  expect(apply(decimalSqrt, '2')).toBe('1.414213562373095048801688724209698');
  expect(apply(decimalSqrt, '6.25')).toBe('2.5');
  expect(apply(decimalSqrt, '-1')).toBe('NaN');
});

test('e, its powers and logarithms have 34 digits', () => {
  expect(apply(decimalExp, '1')).toBe('2.718281828459045235360287471352662');
  expect(apply(decimalExp, '1E+10')).toBe('Infinity');
  expect(apply(decimalLn, '10')).toBe('2.302585092994045684017991454684364');
  expect(apply(decimalLog10, '1E-300')).toBe('-300');
  expect(apply(decimalPow, '3', '4')).toBe('81.00000000000000000000000000000000');
  expect(apply(decimalPow, '-2', '0.5')).toBe('NaN');
  expect(apply(decimalPow, 'NaN', '0')).toBe('1.000000000000000000000000000000000');
});

test('angles are reduced exactly, however large they are', () => {
  const real = (name: RealName) => (value: Decimal128) => decimalReal(name, value);
  expect(apply(real('cos'), '1')).toBe('0.5403023058681397174009366074429766');
  // Rounded to 113 bits in between, as the reference does: with 34 digits alone it would end in 1811.
  expect(apply(real('cos'), '0.7854')).toBe('0.7071054825112363062434428987321810');
  expect(apply(real('cos'), '-3')).toBe('-0.9899924966004454572715727947312613');
  expect(apply(real('tan'), '2')).toBe('-2.185039863261518991643306102313683');
  expect(apply(real('tan'), '1.5707963267948966')).toBe('51998506188720270.66019474166122687');
  expect(apply(real('sin'), '1E+22')).toBe('-0.8522008497671888017727058937530294');
  expect(apply(real('atan'), '1')).toBe('0.7853981633974483096156608458198757');
  expect(apply(real('sin'), '1E-50')).toBe('1.000000000000000000000000000000000E-50');
  expect(apply(decimalAtan2, '-1', '-1')).toBe('-2.356194490192344928846982537459627');
});
