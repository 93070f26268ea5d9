import { expect, test } from 'vitest';
import { checkedTimeZone, timeInZone } from './time-zone.ts';

const winter = new Date('2026-12-01T13:05:09.500Z');
const summer = new Date('2026-07-01T22:05:09Z');

test.each([
  ['UTC', winter, '2026-12-01 13:05:09 UTC'],
  ['Europe/Berlin', winter, '2026-12-01 14:05:09 CET (Europe/Berlin)'],
  ['Europe/Berlin', summer, '2026-07-02 00:05:09 CEST (Europe/Berlin)'],
  ['America/New_York', winter, '2026-12-01 08:05:09 EST (America/New_York)'],
  ['Asia/Tokyo', summer, '2026-07-02 07:05:09 GMT+9 (Asia/Tokyo)'],
  ['No/Such_Zone', winter, '2026-12-01 13:05:09 UTC'],
])('a time in %s names its zone', (zone, time, expected) => {
  expect(timeInZone(time, zone)).toBe(expected);
});

test('a zone is an IANA name in its usual spelling, or none', () => {
  expect(checkedTimeZone(' europe/berlin ')).toBe('Europe/Berlin');
  expect(checkedTimeZone('UTC')).toBe('UTC');
  expect(checkedTimeZone('')).toBe('');
  for (const wrong of ['Mars/Olympus', '+01:00', 'Europe/Berlin\n<b>', 'x'.repeat(10_000)])
    expect(() => checkedTimeZone(wrong)).toThrow(/expected a name of the IANA time zone database/);
});
