import { expect, test } from 'vitest';
import { inputText, timeOfInput } from './local-time.ts';

const isoOf = (text: string, zone: string | undefined, end: 'from' | 'until' = 'from'): string | undefined =>
  timeOfInput(text, zone, end)?.toISOString();

test.each([
  ['2026-07-01T12:00', 'UTC', '2026-07-01T12:00:00.000Z'],
  ['2026-07-01T12:00', 'Europe/Zurich', '2026-07-01T10:00:00.000Z'],
  ['2026-12-01T12:00:05', 'Europe/Zurich', '2026-12-01T11:00:05.000Z'],
  ['2026-07-01T00:15', 'Asia/Kathmandu', '2026-06-30T18:30:00.000Z'],
  ['2026-01-01T00:00', 'Pacific/Kiritimati', '2025-12-31T10:00:00.000Z'],
  ['2026-01-01T00:00', 'Pacific/Pago_Pago', '2026-01-01T11:00:00.000Z'],
])('%s in %s is %s, and is shown as it was typed', (text, zone, iso) => {
  for (const end of ['from', 'until'] as const) expect(isoOf(text, zone, end)).toBe(iso);
  expect(inputText(new Date(iso), zone)).toBe(text);
});

test('where clocks are turned back, a range from and until the same local time has both', () => {
  // At 03:00 summer time it becomes 02:00.
  expect(isoOf('2026-10-25T02:30', 'Europe/Zurich', 'from')).toBe('2026-10-25T00:30:00.000Z');
  expect(isoOf('2026-10-25T02:30', 'Europe/Zurich', 'until')).toBe('2026-10-25T01:30:00.000Z');
  for (const iso of ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'])
    expect(inputText(new Date(iso), 'Europe/Zurich')).toBe('2026-10-25T02:30');
  // By half an hour.
  expect(isoOf('2026-04-05T01:45', 'Australia/Lord_Howe', 'from')).toBe('2026-04-04T14:45:00.000Z');
  expect(isoOf('2026-04-05T01:45', 'Australia/Lord_Howe', 'until')).toBe('2026-04-04T15:15:00.000Z');
});

test('where clocks are turned forward, a local time that is left out is as much later', () => {
  // At 02:00 it becomes 03:00.
  for (const end of ['from', 'until'] as const) {
    const time = timeOfInput('2026-03-29T02:30', 'Europe/Zurich', end);
    expect(time?.toISOString()).toBe('2026-03-29T01:30:00.000Z');
    expect(inputText(time, 'Europe/Zurich')).toBe('2026-03-29T03:30');
  }
  expect(isoOf('2026-03-29T01:59:59', 'Europe/Zurich')).toBe('2026-03-29T00:59:59.000Z');
  expect(isoOf('2026-03-29T03:00', 'Europe/Zurich')).toBe('2026-03-29T01:00:00.000Z');
  // Samoa left out a whole day.
  expect(isoOf('2011-12-30T12:00', 'Pacific/Apia')).toBe('2011-12-30T22:00:00.000Z');
});

test('without a zone, times are those of the browser', () => {
  const time = timeOfInput('2026-11-30T22:15', undefined, 'from');
  expect(time).toEqual(new Date('2026-11-30T22:15'));
  expect(inputText(time, undefined)).toBe('2026-11-30T22:15');
});

test('what is no time is none', () => {
  for (const text of ['', 'yesterday', '2026-02-30T25:00', '20260-01-01T00:00', '2026-01-01', '2026-01-01T00:00Z'])
    expect(isoOf(text, 'UTC'), text).toBeUndefined();
  expect(inputText(undefined, 'UTC')).toBe('');
});
