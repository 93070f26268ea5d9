import { BsonDate, BsonDocument, type BsonValue, canFail, encodeBson, type Stage } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import { parseSql } from '@platform/query/sql';
import { expect, test } from 'vitest';
import { type FileFacts, kind, type LeafFacts, type SeriesFacts } from '../../files/file-facts.ts';
import { seriesValues } from '../series/series-values.ts';
import { conditionOf } from './condition.ts';
import { splitFilter } from './split-filter.ts';
import { Binds } from './sql.ts';

function seriesOf(component: string): SeriesFacts {
  const times = { min: 0n, max: 1_000_000n, missing: component === 'arm' ? 1 : 0 };
  return {
    path: {
      organization_id: 'org-1',
      location_id: 'loc-1',
      robot_id: 'robot-1',
      part_id: 'part-1',
      component_type: 'core:component:sensor',
      component_name: component,
      method_name: 'Readings',
    },
    tags: [],
    additionalParameters: encodeBson(new BsonDocument()),
    rows: 10,
    dataBytes: 100,
    firstRow: 0,
    received: times,
    requested: times,
    synced: { ...times, missing: 0 },
  };
}

const object = { kinds: kind.object, rows: 20, complete: true, ordered: true };
const number = { min: 0, max: 40, lowestBit: -40, negativeZero: false, nonFinite: false };
const leaves: readonly LeafFacts[] = [
  { ...object, path: [] },
  { path: ['n'], kinds: kind.double, rows: 20, column: 'ln', number },
  {
    path: ['z'],
    kinds: kind.double,
    rows: 20,
    column: 'lz',
    number: { ...number, negativeZero: true, nonFinite: true },
  },
  { path: ['m'], kinds: kind.double | kind.string | kind.missing, rows: 9, column: 'lm', number },
  { path: ['k'], kinds: kind.double | kind.null | kind.bool | kind.array, rows: 9, column: 'lk', number },
  { path: ['d'], kinds: kind.object | kind.array, rows: 20, column: 'ld' },
  { path: ['d', 'x'], kinds: kind.double | kind.missing, rows: 4, column: 'lx', number },
  { path: ['u'], kinds: kind.double | kind.missing, rows: 4, number },
];
const facts: FileFacts = { rows: 20, series: ['cpu', 'arm', 'leg'].map(seriesOf), leaves, bytes: 1_000 };

function emitted([stage]: readonly Stage[]): string {
  if (stage?.k !== 'filter') throw new Error('expected a filter');
  const binds = new Binds();
  const values = seriesValues(facts, '2026-05-17', 'core');
  const condition = conditionOf(stage.where, { facts, values, binds });
  const bound = binds.values.map(({ value }, index) => `$${index + 2}=${value}`).join(' ');
  return `${condition.exact ? 'exactly' : 'at least'} ${condition.sql}${bound && ` | ${bound}`}`;
}

function bson(value: unknown): BsonValue {
  if (value instanceof Date) return new BsonDate(value.getTime());
  if (Array.isArray(value)) return value.map(bson);
  if (typeof value !== 'object' || value === null) return value as BsonValue;
  return new BsonDocument(Object.entries(value).map(([name, each]) => [name, bson(each)]));
}

function matching(filter: object): readonly Stage[] {
  return parseMql([encodeBson(bson({ $match: filter }) as BsonDocument)]).stages;
}

test('conditions are exact where the kinds of a leaf are known, supersets where arrays occur, and absent where nothing is known', () => {
  const filters: Record<string, object> = {
    number: { 'data.n': { $gt: 5 } },
    'number out of kind': { 'data.n': 'x' },
    'not a number': { 'data.n': { $not: { $gte: 5 } } },
    'zero beside -0': { 'data.z': 0 },
    'greater beside NaN': { 'data.z': { $gt: 1 } },
    'less beside NaN in an expression': { $expr: { $lt: ['$data.z', 1] } },
    mixed: { 'data.m': { $lte: 'b' } },
    'order of types': { $expr: { $gt: ['$data.m', 3] } },
    'null is missing': { 'data.m': null },
    'null in an expression': { $expr: { $eq: ['$data.m', null] } },
    'array as the value': { 'data.k': { $lt: 3 } },
    'array within the path': { 'data.d.x': { $lt: 3 } },
    exists: { 'data.m': { $exists: true } },
    type: { 'data.m': { $type: ['string', 'null'] } },
    list: { 'data.m': { $in: [1, 'a', null] } },
    pattern: { 'data.m': { $regex: '^a' } },
    'no column': { 'data.u': { $gt: 1 } },
    'nowhere in the file': { 'data.none': { $gt: 1 } },
    path: { component_name: { $in: ['cpu', 'leg'] } },
    'path in an expression': { $expr: { $ne: ['$component_name', 'cpu'] } },
    'time, missing in one series': { time_received: { $gt: new Date(7) } },
    'time, a constant': { $expr: { $lt: ['$time_synced', { $toDate: '1970-01-01T00:00:01Z' }] } },
    'two fields': { $expr: { $gt: ['$data.n', '$data.n'] } },
    'or with what is unknown': { $or: [{ 'data.n': 1 }, { 'data.u': 1 }] },
    nor: { $nor: [{ 'data.n': 1 }, { 'data.m': 'a' }] },
  };
  const lines = Object.entries(filters).map(([name, filter]) => `${name}: ${emitted(matching(filter))}`);
  expect(lines).toEqual([
    'number: exactly ln_n > $2 | $2=5',
    'number out of kind: exactly FALSE',
    'not a number: exactly ((ln_n >= $2) IS NOT TRUE) | $2=5',
    'zero beside -0: exactly abs(lz_n) = 0',
    'greater beside NaN: exactly (lz_n > $2 AND NOT isnan(lz_n)) | $2=1',
    'less beside NaN in an expression: exactly (lz_n < $2 OR isnan(lz_n)) | $2=1',
    'mixed: exactly lm_s <= $2 | $2=b',
    'order of types: exactly (lm_n > $2 OR lm_s IS NOT NULL) | $2=3',
    'null is missing: exactly (lm_n IS NULL AND lm_s IS NULL)',
    'null in an expression: exactly FALSE',
    'array as the value: at least (lk_n < $2 OR (lk_k IS NOT NULL AND lk_k = 64)) | $2=3',
    'array within the path: at least TRUE',
    'exists: exactly (((lm_n IS NULL AND lm_s IS NULL)) IS NOT TRUE)',
    'type: exactly lm_s IS NOT NULL',
    'list: exactly (lm_n = $2 OR lm_s = $3 OR (lm_n IS NULL AND lm_s IS NULL)) | $2=1 $3=a',
    'pattern: at least lm_s IS NOT NULL',
    'no column: at least TRUE',
    'nowhere in the file: exactly FALSE',
    'path: exactly (series = 0 OR series = 2)',
    'path in an expression: exactly ((series >= 1 AND series <= 2))',
    'time, missing in one series: exactly time_received >= $2 | $2=8000',
    'time, a constant: exactly time_synced < $2 | $2=1000000',
    'two fields: exactly ln_n > ln_n',
    'or with what is unknown: at least TRUE | $2=1',
    'nor: exactly (((ln_n = $2 OR lm_s = $3)) IS NOT TRUE) | $2=1 $3=a',
  ]);
});

test('a SQL comparison with null is null and keeps no row', () => {
  const conditions = ['data.m > 3', 'data.m <> 3', 'NOT (data.m = 3)', 'data.m IS NULL', "data.m IN (1, 'a', NULL)"];
  const lines = conditions.map(
    (where) => `${where}: ${emitted(parseSql(`SELECT * FROM readings WHERE ${where}`).stages)}`,
  );
  expect(lines).toEqual([
    'data.m > 3: exactly (lm_n > $2 OR lm_s IS NOT NULL) | $2=3',
    'data.m <> 3: exactly ((((lm_n IS NULL AND lm_s IS NULL)) IS NOT TRUE) AND ((lm_n = $2) IS NOT TRUE)) | $2=3',
    'NOT (data.m = 3): exactly ((((lm_n IS NULL AND lm_s IS NULL)) IS NOT TRUE) AND ((lm_n = $2) IS NOT TRUE)) | $2=3',
    'data.m IS NULL: exactly (lm_n IS NULL AND lm_s IS NULL)',
    "data.m IN (1, 'a', NULL): exactly (lm_n = $2 OR lm_s = $3) | $2=1 $3=a",
  ]);
});

test('no row is excluded early after a condition that can fail', () => {
  const [stage] = matching({ $expr: { $gt: [{ $toInt: '$data.m' }, 3] }, 'data.n': 5, 'data.m': { $regex: 'a' } });
  expect(stage?.k === 'filter' && splitFilter(stage.where).map((part) => canFail(part))).toEqual([true, false, false]);
});
