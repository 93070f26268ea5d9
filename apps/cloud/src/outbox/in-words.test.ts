import { expect, test } from 'vitest';
import type { EventReading, TriggerEvent } from './event.ts';
import { nameInText, summaryOf, timeInText, withZone } from './in-words.ts';
import { webhookMessage } from './testing/webhook-message.ts';

const base = webhookMessage(1, '').event;
const reading = (readings: Record<string, unknown>): EventReading => ({
  ...{ receivedAt: null, requestedAt: null, data: { readings } },
});

/** An event of a trigger on data, of the machine `oven`. */
function event(evals: unknown, readings: Record<string, unknown>, more: Partial<TriggerEvent> = {}): TriggerEvent {
  return {
    ...base,
    type: 'conditional_data_ingested',
    place: { ...base.place, robotName: 'oven' },
    data: { ...base.data!, componentName: 'oven', reading: reading(readings) },
    condition: { data_capture_method: 'sensor:oven:Readings', conditions: evals },
    ...more,
  };
}
const evals = (operator: string, value: unknown) => ({ evals: [{ operator, value }] });

test.each([
  [evals('lt', { temperature: 25 }), { temperature: 22.4 }, 'oven: temperature 22.4 is below 25'],
  [evals('lte', { readings: { temperature: 25 } }), { temperature: 25 }, 'oven: temperature 25 is at most 25'],
  [evals('gt', { 'motor.temperature': 90 }), { motor: { temperature: 91 } }, 'oven: motor.temperature 91 is above 90'],
  [evals('gte', { list: { 0: 1 } }), { list: [2] }, 'oven: list.0 2 is at least 1'],
  [evals('eq', { door: 'open' }), { door: 'open' }, 'oven: door is open'],
  [evals('neq', { door: 'open' }), { door: 'ajar' }, 'oven: door is ajar, not open'],
  [evals('regex', { state: 'over.*' }), { state: 'overheated' }, 'oven: state overheated matches over.*'],
  [
    { any: [...evals('gt', { a: 1 }).evals, ...evals('gt', { b: 1 }).evals, ...evals('lt', { c: 9 }).evals] },
    { a: 0, b: 2, c: 3 },
    'oven: b 2 is above 1 and c 3 is below 9',
  ],
  [undefined, { a: 1 }, 'oven: oven Readings met the condition'],
  [{ evals: 'damaged' }, { a: 1 }, 'oven: oven Readings met the condition'],
])('D45 a subject says value and threshold in words: %j', (conditions, readings, expected) => {
  expect(summaryOf(event(conditions, readings))).toBe(expected);
});

test('D45 changes, other events and tests are said in words, with times that name their zone', () => {
  const hot = event(evals('gt', { temperature: 90 }), { temperature: 95 });
  const at = '2026-01-02T03:04:05.678Z';
  const firing = { to: 'firing', subject: '', at, reason: 'the conditions have been met for 60 s' } as const;
  expect(summaryOf({ ...hot, change: firing })).toBe(
    'oven: temperature 95 is above 90; the conditions have been met for 60 s',
  );
  const cool = event(evals('gt', { temperature: 90 }), { temperature: 80 });
  expect(summaryOf({ ...cool, change: { ...firing, to: 'recovered', reason: 'recovered after 5 s' } })).toBe(
    'oven has recovered: temperature 80 is not above 90',
  );
  const { data: _none, ...silent } = hot;
  expect(summaryOf({ ...silent, change: { ...firing, reason: `nothing since ${at}` } })).toBe(
    'oven: nothing since 2026-01-02 03:04:05 UTC',
  );
  const place = { ...base.place, robotName: 'press-7' };
  expect(summaryOf({ ...hot, place })).toBe('press-7: temperature 95 is above 90 (oven)');
  const stopped = { ...firing, subject: 'oven Readings', reason: 'nothing for 300 s' };
  expect(summaryOf({ type: 'capture_stopped', place, change: stopped })).toBe(
    'press-7: capture stopped (oven Readings): nothing for 300 s',
  );
  const logs = { entries: [{ message: 'too\nhot' }], omitted: 2 };
  expect(summaryOf({ type: 'conditional_logs_ingested', place, logs })).toBe('press-7: 3 lines in the log: too hot');
  expect(summaryOf({ type: 'part_offline', place, isTest: true })).toBe(
    'test, nothing has happened: press-7 is offline',
  );
  expect([timeInText(0), withZone(`from ${at} on`)]).toEqual([
    '1970-01-01 00:00:00 UTC',
    'from 2026-01-02 03:04:05 UTC on',
  ]);
});

test('names of 10 kB are shortened, and names from right to left do not turn the text around them', () => {
  const long = summaryOf({ type: 'part_offline', place: { ...base.place, robotName: '🚂'.repeat(5_000) } });
  expect(long).toBe(`${'🚂'.repeat(79)}… is offline`);
  expect(nameInText('מכונה')).toBe('\u2068מכונה\u2069');
  // An override would show "fdp.exe" as something else.
  expect(nameInText('a\u202Efdp.exe\r\nBcc: eve')).toBe('afdp.exe Bcc: eve');
});
