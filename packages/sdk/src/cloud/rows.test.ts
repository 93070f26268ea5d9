import { deserialize, Int32, Long, serialize } from 'bson';
import { expect, test } from 'vitest';
import { rowsOf, stageBytes } from './rows.ts';

test('a stage may hold Dates, BSON classes or Extended JSON, and keeps the order of its fields', () => {
  const at = new Date('2026-11-21T08:00:00.123Z');
  const stage = { $match: { b: { $gte: at }, a: { $date: at.toISOString() }, n: Long.fromString('9007199254740993') } };
  const read = deserialize(stageBytes(stage), { promoteValues: false }) as { $match: Record<string, unknown> };
  expect(Object.keys(read.$match)).toEqual(['b', 'a', 'n']);
  expect(read.$match).toEqual({ b: { $gte: at }, a: at, n: Long.fromString('9007199254740993') });
});

test('rows come as plain objects with numbers, Dates and null', () => {
  const row = { count: new Int32(3), half: 0.5, at: new Date(5), nothing: null, nested: { list: ['x'] } };
  expect(rowsOf([serialize(row)])).toEqual([{ ...row, count: 3 }]);
});
