import { expect, test } from 'vitest';
import { parseMql } from '../mql/parse.ts';
import { parseSql } from '../sql.ts';
import { doc } from '../testing/run.ts';
import { fieldsNamed } from './fields-named.ts';

const mql = (...pipeline: object[]): string[] => namesIn(fieldsNamed(parseMql(pipeline.map(doc))));
const sql = (text: string): string[] => namesIn(fieldsNamed(parseSql(text)));

function namesIn(paths: readonly (readonly string[])[]): string[] {
  return paths.map((path) => path.join('.'));
}

test('the fields that a query names are those of stored rows, each once, up to the stage that makes other rows', () => {
  expect(mql({ $match: { 'data.a': 1, component_name: 'x' } }, { $sort: { 'data.b': 1, 'data.a': 1 } })).toEqual([
    ...['data.a', 'component_name', 'data.b'],
  ]);
  expect(mql({ $group: { _id: '$data.k', m: { $avg: '$data.v' } } }, { $match: { m: { $gt: 1 } } })).toEqual([
    ...['data.k', 'data.v'],
  ]);
  expect(mql({ $unwind: '$data.list' }, { $project: { 'data.x': 1, y: '$data.y', _id: 0 } })).toEqual([
    ...['data.list', 'data.x', 'data.y'],
  ]);
  expect(mql({ $match: { data: { $elemMatch: { inner: 1 } } } })).toEqual(['data']);
  expect(sql('SELECT data.x AS x FROM readings WHERE data.y > 1 ORDER BY data.z')).toEqual(
    expect.arrayContaining(['data.x', 'data.y', 'data.z']),
  );
  expect(sql('WITH a AS (SELECT data.x AS x FROM readings) SELECT x FROM a WHERE x > 1')).toEqual(['data.x']);
  expect(sql('SELECT 1 AS one')).toEqual([]);
});
