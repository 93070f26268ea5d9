import fc from 'fast-check';
import { expect, test } from 'vitest';
import { allocate } from './allocate.ts';
import { currencyOf } from './currency.ts';
import { decimalOf, divideRounded, minorOfDecimal, textOfDecimal } from './decimal.ts';
import { maxMinor, minorOfWire, textOfMinor, wireOfMinor } from './wire-amount.ts';

const [usd, jpy, kwd] = ['USD', 'JPY', 'KWD'].map((code) => currencyOf(code, 'currency')) as never as [
  ReturnType<typeof currencyOf>,
  ReturnType<typeof currencyOf>,
  ReturnType<typeof currencyOf>,
];
const currency = fc.constantFrom(usd, jpy, kwd);

test('D27 every whole number of minor units survives the wire as a float and back', () => {
  fc.assert(
    fc.property(currency, fc.bigInt(0n, maxMinor), (of, minor) => {
      expect(minorOfWire(wireOfMinor(minor, of), of, 'amount', 0n)).toBe(minor);
    }),
    { numRuns: 5_000 },
  );
});

test('D27 a float within a millionth of a cent is rounded to that cent; others are refused by name', () => {
  const cents = (value: number, least: 0n | 1n = 0n) => minorOfWire(value, usd, 'amount', least);
  expect([1.1, 0.29, 0.1 + 0.2, 4.35, 1_000_000.01, 999_999_999.99].map((value) => cents(value))).toEqual([
    110n,
    29n,
    30n,
    435n,
    100_000_001n,
    99_999_999_999n,
  ]);
  for (const wrong of [1.005, 10.075, 0.285, 0.001, -0.01, -1, Number.NaN, Infinity, -Infinity, 1e300, 1e11])
    expect(() => cents(wrong)).toThrow(
      `amount: expected an amount from 0 up to 10000000000.00 USD with at most 2 decimals, found ${wrong}`,
    );
  expect(() => cents(0, 1n)).toThrow('amount: expected an amount above 0');
  expect(cents(-0)).toBe(0n);
  expect(() => minorOfWire(1.5, jpy, 'amount', 0n)).toThrow('with at most 0 decimals, found 1.5');
  expect(minorOfWire(1.005, kwd, 'amount', 0n)).toBe(1_005n);
});

test('amounts are written with the decimals of their currency', () => {
  expect([1_230n, -5n, 0n, 7n].map((minor) => textOfMinor(minor, usd))).toEqual(['12.30', '-0.05', '0.00', '0.07']);
  expect([textOfMinor(1_200n, jpy), textOfMinor(-1_005n, kwd)]).toEqual(['1200', '-1.005']);
  expect(() => currencyOf('usd', 'currency')).toThrow('currency: expected the code of a currency');
  expect(() => currencyOf(undefined, 'currency')).toThrow('found null');
});

test('decimals are exact, and rounded once, half away from zero', () => {
  expect(textOfDecimal(decimalOf('0.150', 'price'))).toBe('0.15');
  expect(textOfDecimal(decimalOf('12', 'price'))).toBe('12');
  for (const wrong of ['', '-1', '1e3', '.5', '01', '1.', 0.15, '0.1234567890123', null])
    expect(() => decimalOf(wrong, 'price')).toThrow('price: expected a decimal number as text');
  expect([5n, 15n, -5n, -15n, 4n, 14n].map((value) => divideRounded(value, 10n))).toEqual([1n, 2n, -1n, -2n, 0n, 1n]);
  expect(minorOfDecimal(decimalOf('0.005', 'price'), 2)).toBe(1n);
  expect(minorOfDecimal(decimalOf('1.0049', 'price'), 2)).toBe(100n);
});

test('parts of an amount add up to the whole, and each is within one minor unit of its share', () => {
  const weights = fc.array(fc.bigInt(0n, 10n ** 15n), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(fc.bigInt(-maxMinor, maxMinor), weights, (total, given) => {
      const of = given.every((weight) => weight === 0n) ? [...given, 1n] : given;
      const parts = allocate(total, of);
      const sum = of.reduce((all, weight) => all + weight, 0n);
      expect(parts.reduce((all, part) => all + part, 0n)).toBe(total);
      for (const [index, part] of parts.entries()) {
        const off = part * sum - total * (of[index] ?? 0n);
        expect(off < 0n ? -off : off).toBeLessThan(sum);
      }
    }),
    { numRuns: 2_000 },
  );
});
