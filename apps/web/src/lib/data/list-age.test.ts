import { expect, test } from 'vitest';
import { listAgeText } from './list-age.ts';

test('the age of a list of series is told in words once it is not of now', () => {
  const nowMs = Date.UTC(2026, 4, 17, 12);
  const aged = (ms: number): string => listAgeText(new Date(nowMs - ms), nowMs);
  expect(aged(119_000)).toBe('');
  expect(aged(-5_000)).toBe('');
  expect(listAgeText(undefined, nowMs)).toBe('');
  expect(aged(200_000)).toBe(
    'The list is of 3 min ago: series whose first reading arrived since then are missing. The values are of now.',
  );
});
