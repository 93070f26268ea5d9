import { expect, test } from 'vitest';
import { BsonDate } from '../bson/value.ts';
import { doc, refusalOf } from '../testing/run.ts';
import { noticesOf } from './notices.ts';
import { parseMql } from './parse.ts';

const notices = (...pipeline: object[]): string[] => noticesOf(parseMql(pipeline.map(doc)));

test('an expression as the operand of a query operator gives a notice: it is compared, not evaluated', () => {
  const since = { $toDate: '2026-01-01' };
  expect(notices({ $limit: 1 }, { $match: { time_received: { $gte: since } } })).toEqual([
    'stage 1 ($match) at $match.time_received.$gte: {$toDate: …} is compared as a document here, not evaluated; write {$expr: {$gte: ["$time_received", {$toDate: …}]}}',
  ]);
  expect(notices({ $match: { $or: [{ a: 1 }, { 'data.x': { $lt: '$$NOW' } }] } })).toEqual([
    expect.stringContaining('\'$$NOW\' is compared as a string here, not evaluated; write {$expr: {$lt: ["$data.x"'),
  ]);
  expect(notices({ $match: { $expr: { $gte: ['$time_received', since] } } })).toEqual([]);
});

test('a time compared with a text gives a notice, one compared with a date does not', () => {
  expect(notices({ $match: { time_synced: { $gt: '2026-01-01' } } })).toEqual([
    expect.stringContaining('time_synced is a date and never matches a string; write {"$date": "2026-01-01"}'),
  ]);
  const plain = { time_synced: { $gt: new BsonDate(0) }, component_name: 'arm', data: { time: 'x' }, 'data.a': '$5' };
  expect(notices({ $match: plain })).toEqual([]);
});

test('an expression in place of a query operator is refused, suggesting $expr', () => {
  expect(refusalOf({ $match: { time_received: { $toDate: '2026-01-01' } } })).toMatchObject({
    codeName: 'BadValue',
    hint: 'expressions are evaluated in $expr: {$expr: {$eq: ["$time_received", {$toDate: …}]}}',
  });
});
