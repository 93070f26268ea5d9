import { expect, test } from 'vitest';
import { money, smallestAmount } from './money.ts';

test('an amount has the sign and the decimals of its currency', () => {
  const digits = (text: string): string => text.replaceAll(/[^\d.,]/g, '').replace(',', '.');
  expect(digits(money(12.5, 'EUR'))).toBe('12.50');
  expect(money(12.5, 'EUR')).toContain('€');
  expect(digits(money(120, 'JPY'))).toBe('120');
  expect(digits(money(1.234, 'KWD'))).toBe('1.234');
  expect([smallestAmount('EUR'), smallestAmount('JPY'), smallestAmount('KWD')]).toEqual([0.01, 1, 0.001]);
});

test('without a currency an amount is a number, and no currency is invented', () => {
  expect(money(12.5, '')).toMatch(/^12[.,]50$/);
  expect(money(12.5, 'none')).toMatch(/^12[.,]50$/);
  expect(smallestAmount('')).toBe(0.01);
});
