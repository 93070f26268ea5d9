import { expect, test } from 'vitest';
import { BsonDate } from '../../bson/value.ts';
import { parseMql } from '../../mql/parse.ts';
import { parseSql } from '../../sql/parse.ts';
import { doc, run } from '../../testing/run.ts';
import { type PathFilter, pathFilter } from '../path-filter.ts';
import type { Plan } from '../stage.ts';
import { foldConstants } from './fold-constants.ts';

const hourMs = 3_600_000;
const nowMs = Date.UTC(2026, 10, 21, 12);

const plan = (...stages: object[]): Plan => parseMql(stages.map(doc));
const timesOf = (found: Plan): PathFilter['times'] => pathFilter(foldConstants(found, nowMs)).times;
const matching = (condition: object): Plan => plan({ $match: { $expr: condition } });

test.each([
  [{ $dateSubtract: { startDate: '$$NOW', unit: 'hour', amount: 1 } }, nowMs - hourMs],
  [{ $subtract: ['$$NOW', 60_000] }, nowMs - 60_000],
  [{ $toDate: '2026-11-21T00:00:00Z' }, Date.UTC(2026, 10, 21)],
  [{ $dateFromString: { dateString: '2026-11-20' } }, Date.UTC(2026, 10, 20)],
  [{ $dateTrunc: { date: '$$NOW', unit: 'day' } }, Date.UTC(2026, 10, 21)],
  [{ $add: [new BsonDate(0), { $multiply: [2, hourMs] }] }, 2 * hourMs],
])('%j bounds the time that is compared with it', (time, fromMs) => {
  expect(timesOf(matching({ $gte: ['$time_received', time] }))).toEqual({ time_received: { fromMs } });
});

test('constant times in SQL bound the time that is compared with them', () => {
  const text = `SELECT * FROM readings WHERE time_received >= DATEADD(HOUR, -1, CURRENT_TIMESTAMP)
    AND time_requested < DATEADD(DAY, 1, CAST('2026-11-21T00:00:00Z' AS TIMESTAMP))`;
  expect(timesOf(parseSql(text))).toEqual({
    time_received: { fromMs: nowMs - hourMs },
    time_requested: { toMs: Date.UTC(2026, 10, 22) },
  });
});

test('a list of constants is also a list of paths', () => {
  const found = foldConstants(matching({ $in: ['$part_id', ['a', { $concat: ['b', 'c'] }]] }), nowMs);
  expect(pathFilter(found).columns).toEqual({ part_id: { in: ['a', 'bc'] } });
});

test('bounds that contradict each other leave no rows to read', () => {
  const never = { organization_id: { in: [] } };
  const times = { time_received: { $gt: new BsonDate(9), $lt: new BsonDate(5) } };
  expect(pathFilter(plan({ $match: times })).columns).toEqual(never);
  expect(pathFilter(plan({ $match: { part_id: { $gt: 'b', $lt: 'a' } } })).columns).toMatchObject(never);
  expect(pathFilter(plan({ $match: { part_id: { $gte: 'b', $lte: 'b' } } })).columns).not.toMatchObject(never);
});

test('$$NOW is the same everywhere in a plan, in filters and elsewhere', async () => {
  const found = foldConstants(
    plan({ $project: { now: '$$NOW' } }, { $match: { $expr: { $eq: ['$now', '$$NOW'] } } }),
    nowMs,
  );
  expect(await run([doc({})], found.stages)).toEqual([doc({ now: new BsonDate(nowMs) })]);
});

test('a constant that fails gives the same error as before', async () => {
  const found = matching({ $gte: ['$a', { $divide: [1, 0] }] });
  const refusal = await run([doc({ a: 1 })], found.stages).catch((error: unknown) => error);
  expect(await run([doc({ a: 1 })], foldConstants(found, nowMs).stages).catch((error: unknown) => error)).toEqual(
    refusal,
  );
});

test('random values are not constants', () => {
  const found = matching({ $lt: [{ $rand: {} }, 0.5] });
  expect(foldConstants(found, nowMs)).toEqual(found);
});
