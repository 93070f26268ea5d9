import { expect, test } from 'vitest';
import { BsonDate, BsonDocument, Int32, type Maybe } from '../../bson/value.ts';
import { codeOf, evaluate } from '../../testing/evaluate.ts';

const at = (text: string): BsonDate => new BsonDate(Date.parse(text));
const iso = (value: Maybe): string => (value instanceof BsonDate ? new Date(value.ms).toISOString() : String(value));

test('days are added on the clock of the zone, hours in elapsed time', async () => {
  const startDate = at('2024-03-09T17:00:00Z');
  const timezone = 'America/New_York';
  expect(iso(await evaluate({ $dateAdd: { startDate, unit: 'day', amount: 1, timezone } }))).toBe(
    '2024-03-10T16:00:00.000Z',
  );
  expect(iso(await evaluate({ $dateAdd: { startDate, unit: 'hour', amount: 24, timezone } }))).toBe(
    '2024-03-10T17:00:00.000Z',
  );
});

test('if the resulting month is too short, the sum is its last day', async () => {
  const shift = { startDate: at('2024-01-31T10:00:00Z'), unit: 'month', amount: 1 };
  expect(iso(await evaluate({ $dateAdd: shift }))).toBe('2024-02-29T10:00:00.000Z');
  expect(iso(await evaluate({ $dateSubtract: { ...shift, unit: 'quarter' } }))).toBe('2023-10-31T10:00:00.000Z');
  expect(await codeOf({ $dateAdd: { ...shift, amount: 1.5 } })).toBe(5166405);
  expect(await codeOf({ $dateAdd: { ...shift, unit: 'Day' } })).toBe(9);
  expect(await evaluate({ $dateAdd: { ...shift, amount: null } })).toBe(null);
});

test('a skipped clock time takes the offset before it; a repeated one means the first occurrence west of Greenwich', async () => {
  const parts = { year: 2024, month: 3, day: 10, hour: 2, minute: 30, timezone: 'America/New_York' };
  expect(iso(await evaluate({ $dateFromParts: parts }))).toBe('2024-03-10T07:30:00.000Z');
  const east = { ...parts, day: 31, timezone: 'Europe/Paris' };
  expect(iso(await evaluate({ $dateFromParts: east }))).toBe('2024-03-31T01:30:00.000Z');
  expect(iso(await evaluate({ $dateFromParts: { ...parts, month: 11, day: 3, hour: 1 } }))).toBe(
    '2024-11-03T05:30:00.000Z',
  );
});

test('$dateDiff counts boundaries, not lengths', async () => {
  const diff = (unit: string, more = {}): Promise<Maybe> =>
    evaluate({
      $dateDiff: { startDate: at('2023-12-31T23:59:59Z'), endDate: at('2024-01-01T00:00:00Z'), unit, ...more },
    });
  expect([await diff('year'), await diff('month'), await diff('day'), await diff('hour')]).toEqual([1n, 1n, 1n, 1n]);
  expect([await diff('week'), await diff('week', { startOfWeek: 'MON' })]).toEqual([0n, 1n]);
  expect(await diff('day', { timezone: '+02:00' })).toBe(0n);
  expect(await codeOf({ $dateDiff: { startDate: 1, endDate: 2, unit: 'day' } })).toBe(5166307);
});

test('$dateTrunc counts bins from 2000, on the clock of the zone', async () => {
  const trunc = async (more: object): Promise<string> =>
    iso(await evaluate({ $dateTrunc: { date: at('2021-03-20T11:30:05Z'), ...more } }));
  expect(await trunc({ unit: 'week', startOfWeek: 'friday' })).toBe('2021-03-19T00:00:00.000Z');
  expect(await trunc({ unit: 'month', binSize: 6 })).toBe('2021-01-01T00:00:00.000Z');
  expect(await trunc({ unit: 'day', timezone: 'Asia/Kathmandu' })).toBe('2021-03-19T18:15:00.000Z');
  expect(await trunc({ unit: 'hour', binSize: 7 })).toBe('2021-03-20T07:00:00.000Z');
  // In summer, bins of two hours begin at odd hours of New York's clock, because they continue those of winter.
  const summer = { date: at('2021-07-01T13:30:00Z'), unit: 'hour', binSize: 2, timezone: 'America/New_York' };
  expect(await trunc(summer)).toBe('2021-07-01T13:00:00.000Z');
});

test('zones have exact names, or offsets of any size', async () => {
  const hour = (timezone: unknown): unknown => ({ $hour: { date: at('2024-07-15T12:00:00Z'), timezone } });
  expect(await evaluate(hour('Europe/Paris'))).toEqual(new Int32(14));
  expect(await evaluate(hour('EST'))).toEqual(new Int32(7));
  expect(await evaluate(hour('+99:99'))).toEqual(new Int32(16));
  for (const wrong of ['europe/paris', 'EUROPE/PARIS', 'Europe/Nowhere', '+100:00', '', 'Z']) {
    expect(await codeOf(hour(wrong))).toBe(40485);
  }
  expect(await codeOf(hour(5))).toBe(40517);
});

test('$dateToString writes every letter of its format', async () => {
  const write = (format: string): Promise<Maybe> =>
    evaluate({ $dateToString: { date: at('2016-01-01T05:06:07.089Z'), format, timezone: '-03:30' } });
  expect(await write('%Y|%m|%d|%H|%M|%S|%L|%j|%b|%B')).toBe('2016|01|01|01|36|07|089|001|Jan|January');
  expect(await write('%G-W%V-%u %w %U %z %Z %%')).toBe('2015-W53-5 6 00 -0330 -210 %');
  expect(await evaluate({ $dateToString: { date: at('2016-01-01T00:00:00Z'), timezone: '+01' } })).toBe(
    '2016-01-01T01:00:00.000',
  );
  expect(await codeOf({ $dateToString: { date: null, format: '%q' } })).toBe(18536);
});

test('$dateFromString reads a format, and the common forms without one', async () => {
  const read = async (dateString: string, more = {}): Promise<string> =>
    iso(await evaluate({ $dateFromString: { dateString, ...more } }));
  expect(await read('7/feb/2024 1:02', { format: '%d/%b/%Y %H:%M' })).toBe('2024-02-07T01:02:00.000Z');
  expect(await read('2015-W53-5', { format: '%G-W%V-%u' })).toBe('2016-01-01T00:00:00.000Z');
  expect(await read('2024-060 +0200', { format: '%Y-%j %z' })).toBe('2024-02-28T22:00:00.000Z');
  expect(await read('March 5, 2024 3:04 PM')).toBe('2024-03-05T15:04:00.000Z');
  expect(await read('2017-Jul-04 noon')).toBe('2017-07-04T12:00:00.000Z');
  expect(await read('2024-07-01T00:00:00', { timezone: 'Europe/Paris' })).toBe('2024-06-30T22:00:00.000Z');
  expect(await read('2023-02-30', { onError: 'bad' })).toBe('bad');
  expect(await codeOf({ $dateFromString: { dateString: '2024-01-01Z', timezone: 'Europe/Paris' } })).toBe(241);
  // Minutes and seconds need two digits in a format.
  expect(await codeOf({ $dateFromString: { dateString: '7/feb/2024 1:2', format: '%d/%b/%Y %H:%M' } })).toBe(241);
});

test('times in text without a format: what may follow the hour, and months without a day', async () => {
  const read = async (text: string): Promise<string> => iso(await evaluate({ $toDate: text }));
  expect(await read('2024-02-05T11:56:02 America/New_York')).toBe('2024-02-05T16:56:02.000Z');
  expect(await read('2024-02-05 5pm CET')).toBe('2024-02-05T16:00:00.000Z');
  expect(await read('2024-02-05T05')).toBe('2024-02-05T05:00:00.000Z');
  expect(await read('Feb 2024')).toBe('2024-02-01T00:00:00.000Z');
  for (const text of ['2024-02-05 5', '2024-02-05T24:00:00', '2024-02-05T23:59:60', '12:30'])
    expect(await codeOf({ $toDate: text }), text).toBe(241);
});

test('an invalid zone is reported even if the date is null, but an invalid date is reported before a null zone', async () => {
  for (const timezone of ['Nowhere', 'America/New_york']) {
    expect(await codeOf({ $dateToString: { date: null, timezone } })).toBe(40485);
    expect(await codeOf({ $dateFromString: { dateString: null, timezone } })).toBe(40485);
    expect(await codeOf({ $dateToParts: { date: null, timezone, iso8601: null } })).toBe(40485);
  }
  expect(await codeOf({ $year: { date: 'x', timezone: null } })).toBe(16006);
  expect(await evaluate({ $dateFromString: { dateString: 5, timezone: null, onError: 'e' } })).toBe('e');
});

test('$dateFromParts reads the time of day first, then the zone, then the date', async () => {
  expect(await codeOf({ $dateFromParts: { year: null, hour: 99_999 } })).toBe(31034);
  expect(await evaluate({ $dateFromParts: { year: 'x', timezone: null } })).toBe(null);
  expect(await codeOf({ $dateFromParts: { year: 20_000, timezone: 'Nowhere' } })).toBe(40485);
  expect(await codeOf({ $dateFromParts: { year: 20_000, month: 99_999 } })).toBe(31034);
  expect(await codeOf({ $dateFromParts: { year: 2000, second: 2 ** 63 } })).toBe(40515);
});

test('$dateToParts gives the parts in order, by months or by ISO weeks', async () => {
  const parts = await evaluate({ $dateToParts: { date: at('2016-01-01T05:06:07.089Z'), iso8601: true } });
  expect(parts instanceof BsonDocument && [...parts]).toEqual([
    ['isoWeekYear', new Int32(2015)],
    ['isoWeek', new Int32(53)],
    ['isoDayOfWeek', new Int32(5)],
    ['hour', new Int32(5)],
    ['minute', new Int32(6)],
    ['second', new Int32(7)],
    ['millisecond', new Int32(89)],
  ]);
  expect(await codeOf({ $dateFromParts: { year: 2024, isoWeek: 1 } })).toBe(40489);
});
