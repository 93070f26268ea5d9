import { expect, test } from 'vitest';
import { BsonDate, BsonDocument, Regex } from '../bson/value.ts';
import { parseMql } from '../mql/parse.ts';
import { parseSql } from '../sql/parse.ts';
import { doc } from '../testing/run.ts';
import { decodePlan, encodePlan } from './plan-codec.ts';

test('a plan survives the transfer to another process, with the types of its literals', () => {
  const plan = parseMql(
    [
      { $match: { a: new Regex('x', 'i'), b: { $in: [1n, 2, new BsonDate(3)] }, c: { $elemMatch: { d: null } } } },
      {
        $project: {
          x: { $map: { input: '$a', in: { k: 'lit', value: '$$this' } } },
          y: '$$REMOVE',
          z: { $literal: { k: 'call' } },
        },
      },
      { $sort: { x: 1 } },
      { $limit: 5 },
    ].map(doc),
  );
  expect(decodePlan(encodePlan(plan))).toEqual(plan);
  const sql = parseSql(
    'SELECT component_name, AVG(data.x) FROM readings WHERE data.y > 1 GROUP BY component_name ORDER BY 2 LIMIT 3',
  );
  expect(decodePlan(encodePlan(sql))).toEqual(sql);
});

test('the plan of a query with the deepest allowed nesting survives too', () => {
  let query = new BsonDocument([['a', 1]]);
  for (let level = 0; level < 98; level++) query = new BsonDocument([['$and', [query]]]);
  const plan = parseMql([new BsonDocument([['$match', query]])]);
  expect(decodePlan(encodePlan(plan))).toEqual(plan);
});
