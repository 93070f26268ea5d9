import fc from 'fast-check';
import { expect, test } from 'vitest';
import { civilOf, daysOf, daysOfIsoWeek, isoWeekOf, weekdayOf } from './calendar.ts';

test('the calendar agrees with the engine within the engine’s range, and with itself everywhere', () => {
  fc.assert(
    fc.property(fc.integer({ min: -99_000_000, max: 99_000_000 }), (days) => {
      const date = new Date(days * 86_400_000);
      expect(civilOf(days)).toEqual({
        year: date.getUTCFullYear(),
        month: date.getUTCMonth() + 1,
        day: date.getUTCDate(),
      });
      expect(weekdayOf(days)).toBe(date.getUTCDay());
    }),
  );
  fc.assert(
    fc.property(fc.integer({ min: -100_000_000_000, max: 100_000_000_000 }), (days) => {
      const { year, month, day } = civilOf(days);
      expect(daysOf(year, month, day)).toBe(days);
      const week = isoWeekOf(days);
      expect(daysOfIsoWeek(week.year, week.week, week.day)).toBe(days);
    }),
  );
});

test('months and days beyond their ranges carry over', () => {
  expect(daysOf(2023, 14, 1)).toBe(daysOf(2024, 2, 1));
  expect(daysOf(2024, 0, 1)).toBe(daysOf(2023, 12, 1));
  expect(daysOf(2023, 2, 29)).toBe(daysOf(2023, 3, 1));
});
