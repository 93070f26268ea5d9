import { BsonDocument, type BsonValue, encodeBson, Int32, type Plan, splitPlan } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import { parseSql } from '@platform/query/sql';
import { expect, test } from 'vitest';
import { type Projection, projectionOf } from './projection.ts';

function bson(value: unknown): BsonValue {
  if (typeof value === 'number') return new Int32(value);
  if (Array.isArray(value)) return value.map(bson);
  if (typeof value !== 'object' || value === null) return value as BsonValue;
  return new BsonDocument(Object.entries(value).map(([name, each]): [string, BsonValue] => [name, bson(each)]));
}

function projectionOfPlan(plan: Plan): Projection | undefined {
  const { end } = splitPlan(plan);
  return end !== 'rows' && (end.k === 'shape' || end.k === 'replace') ? projectionOf(end) : undefined;
}

function project(fields: object): Projection | undefined {
  return projectionOfPlan(parseMql([encodeBson(bson({ $project: fields }) as BsonDocument)]));
}

test('kept fields come in the order of the row, and computed fields follow in the order of the query', () => {
  const found = project({
    v: '$data.readings.t',
    data: { readings: { t: 1, u: 1 } },
    part_id: 1,
    'o.p': '$tags',
    none: 1,
  });
  expect(found?.kept).toEqual([
    ['part_id', 'all'],
    [
      'data',
      new Map([
        [
          'readings',
          new Map([
            ['t', 'all'],
            ['u', 'all'],
          ]),
        ],
      ]),
    ],
  ]);
  expect(found?.made).toEqual([
    { name: 'v', k: 'path', path: ['data', 'readings', 't'] },
    { name: 'o', k: 'object', fields: [{ name: 'p', k: 'path', path: ['tags'] }] },
  ]);
});

test('the list of SELECT is a projection, with objects and constants', () => {
  const found = projectionOfPlan(
    parseSql(
      "SELECT component_name, data.readings.t AS v, {'one': 1, 'at': time_received} AS more FROM readings WHERE data.x > 1",
    ),
  );
  expect(found).toEqual({
    kept: [],
    made: [
      { name: 'component_name', k: 'path', path: ['component_name'] },
      { name: 'v', k: 'path', path: ['data', 'readings', 't'] },
      {
        name: 'more',
        k: 'object',
        fields: [
          { name: 'one', k: 'constant', value: new Int32(1) },
          { name: 'at', k: 'path', path: ['time_received'] },
        ],
      },
    ],
    isBuilt: true,
  });
});

test('values that are constant within a series may be computed', () => {
  expect(project({ a: { $eq: ['$component_name', 'cpu'] } })?.made).toMatchObject([{ name: 'a', k: 'series' }]);
  expect(project({ a: '$additional_parameters.x.y', b: '$tags.x' })?.made).toMatchObject([
    { k: 'series' },
    { k: 'series' },
  ]);
});

test.each<[string, object]>([
  ['an expression of values', { a: { $add: ['$data.n', 1] } }],
  ['the whole row', { a: '$$ROOT' }],
  ['chance', { a: { $rand: {} } }],
  ['something that is put into data', { 'data.made': '$part_id' }],
  ['a list', { a: ['$data.n'] }],
  ['a constant that is a document', { a: { $literal: { b: 1 } } }],
  ['a long text', { a: 'x'.repeat(2_000) }],
  ['parameters, which may be deep, in an object', { 'o.a': '$additional_parameters' }],
  ['deeply nested objects', { 'a.b.c.d.e.f': '$data.n' }],
  ['65 fields', Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`f${i}`, '$data.n']))],
  ['fields that go', { data: 0 }],
])('%s is for the executor', (_, fields) => {
  expect(project(fields)).toBeUndefined();
});

test('up to 64 fields are pushed down, and the row size is checked as in the executor', () => {
  const fields = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`f${i}`, '$data.n']));
  expect(project({ _id: 0, ...fields })).toMatchObject({ isBuilt: true });
  expect(project({ data: 1, part_id: 1 })).toMatchObject({ isBuilt: false, made: [] });
  expect(project({ data: 1, gone: '$$REMOVE' })).toMatchObject({ isBuilt: true, made: [] });
});
