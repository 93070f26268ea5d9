import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BsonDate, type BsonDocument } from '../bson/value.ts';
import { parseMql } from '../mql/parse.ts';
import { parseSql } from '../sql/parse.ts';
import { doc, run } from '../testing/run.ts';
import { isTimeColumn } from './columns.ts';
import { type PathFilter, pathFilter } from './path-filter.ts';

test('equalities, lists and times in the leading filters become plain bounds', () => {
  const plan = parseMql([
    doc({
      $match: {
        robot_id: 'r',
        component_name: { $in: ['a', 'b'] },
        time_received: { $gte: new BsonDate(5) },
        'data.x': 1,
      },
    }),
    doc({ $match: { component_name: { $in: ['b', 'c'] }, $expr: { $gt: [new BsonDate(90), '$time_received'] } } }),
    doc({ $limit: 1 }),
    doc({ $match: { part_id: 'later' } }),
  ]);
  expect(pathFilter(plan)).toEqual({
    columns: { robot_id: { in: ['r'] }, component_name: { in: ['b'] } },
    times: { time_received: { fromMs: 5, toMs: 90 } },
  });
});

test('SQL gives the same bounds as MQL', () => {
  const text = `SELECT * FROM readings WHERE component_name = 'a' AND capture_day BETWEEN '2026-01-01' AND '2026-01-31'
    AND time_received >= CAST('2026-01-02T00:00:00Z' AS TIMESTAMP)`;
  expect(pathFilter(parseSql(text))).toEqual({
    columns: { component_name: { in: ['a'] }, capture_day: { from: '2026-01-01', to: '2026-01-31' } },
    times: { time_received: { fromMs: Date.UTC(2026, 0, 2) } },
  });
});

function keeps(filter: PathFilter, row: BsonDocument): boolean {
  const texts = Object.entries(filter.columns).every(([name, bounds]) => {
    const text = row.get(name) as string;
    return (bounds.in?.includes(text) ?? true) && text >= (bounds.from ?? text) && text <= (bounds.to ?? text);
  });
  const times = Object.entries(filter.times).every(([name, bounds]) => {
    const { ms } = row.get(name) as BsonDate;
    return ms >= (bounds.fromMs ?? ms) && ms <= (bounds.toMs ?? ms);
  });
  return texts && times;
}

test('no row that the filter keeps is outside the bounds', async () => {
  const text = fc.constantFrom('a', 'b', 'c');
  const time = fc.integer({ min: 0, max: 4 }).map((ms) => new BsonDate(ms));
  const column = fc.constantFrom('robot_id', 'component_name', 'time_received', 'time_requested');
  const term = column.chain((name) => {
    const literal: fc.Arbitrary<BsonDate | string> = isTimeColumn(name) ? time : text;
    const operator = fc.constantFrom('$eq', '$ne', '$gt', '$gte', '$lt', '$lte');
    return fc.oneof(
      fc.tuple(operator, literal).map(([op, value]) => ({ [name]: { [op]: value } })),
      fc.array(literal, { maxLength: 2 }).map((list) => ({ [name]: { $in: list } })),
      fc.tuple(operator, literal).map(([op, value]) => ({ $expr: { [op]: [value, `$${name}`] } })),
    );
  });
  const query = fc.oneof(
    fc.array(term, { minLength: 1, maxLength: 3 }).map((all) => ({ $and: all })),
    fc.array(term, { minLength: 1, maxLength: 2 }).map((any) => ({ $or: any })),
  );
  const row = fc.record({ robot_id: text, component_name: text, time_received: time, time_requested: time }).map(doc);
  await fc.assert(
    fc.asyncProperty(query, fc.array(row, { maxLength: 12 }), async (where, rows) => {
      const plan = parseMql([doc({ $match: where })]);
      const filter = pathFilter(plan);
      for (const kept of await run(rows, plan.stages)) expect(keeps(filter, kept)).toBe(true);
    }),
  );
});
