/** D7: the unmodified public TypeScript client reads every row correctly, whatever types it contains. */
import type { ViamClient } from '@viamrobotics/sdk';
import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  serialize,
  Timestamp,
} from 'bson';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { signInPublicClient } from './public-client.ts';

let cloud: CloudProcess;
let client: ViamClient;
beforeAll(async () => {
  cloud = await startCloud();
  client = await signInPublicClient(cloud);
  await upload('kinds', readings);
});
afterAll(() => cloud[Symbol.asyncDispose]());

const start = Date.UTC(2026, 0, 2);

async function upload(component: string, rows: readonly object[]): Promise<void> {
  const times = rows.map((_, at): [Date, Date] => [new Date(start + at), new Date(start + at)]);
  const data = rows.map((row) => ({ readings: row }));
  await client.dataClient.tabularDataCaptureUpload(
    data as never,
    cloud.partId,
    'rdk:component:sensor',
    component,
    'Readings',
    times,
  );
}

const mql = (pipeline: readonly object[]): Promise<unknown[]> =>
  client.dataClient.tabularDataByMQL(
    cloud.organizationId,
    pipeline.map((stage) => serialize(stage)),
  );
const sql = (statement: string): Promise<unknown[]> =>
  client.dataClient.tabularDataBySQL(cloud.organizationId, statement);

/** Readings that a sensor may send, one row each. */
const readings: readonly object[] = [
  {},
  { nothing: null, yes: true, no: false },
  { zero: 0, whole: 3, half: 0.5, small: -1e-300, great: 1.7976931348623157e308, safe: 2 ** 53 - 1, beyond: 2 ** 60 },
  {
    empty: '',
    ascii: 'text',
    accents: 'äöü ß é',
    cjk: '温度計',
    emoji: 'hot 🔥🧑‍🏭 stop',
    math: '𝒳',
    mixed: 'a😀b€cüd',
  },
  { long: 'x😀ü€'.repeat(50_000) },
  { controls: '\u0000\u0001\n\r\n\t\u001b[31m\u007f\u2028\u202e', quotes: `"'\\\`` },
  { list: [], pairs: [[1, [2, [3, [null]]]], [{ a: [{ b: [] }] }]], kinds: [null, true, 'x😀', 1.5, {}, []] },
  { deep: Array.from({ length: 40 }).reduce<object>((inner, _, at) => ({ [`level${at}`]: inner }), { end: 'here' }) },
  { '': 1, 'a.b': 2, $dollar: 3, 'with space': 4, ключ: 5, '😀': 6, '0': 7, constructor: 8, toString: 9 },
  { many: Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`field${at}`, at])) },
];

test('D7 readings of all kinds are returned by MQL and by SQL as they were sent', async () => {
  const condition = { component_name: 'kinds' };
  const byMql = await mql([{ $match: condition }, { $sort: { time_received: 1 } }, { $project: { _id: 0, data: 1 } }]);
  expect(byMql).toEqual(readings.map((row) => ({ data: { readings: row } })));
  const bySql = await sql("SELECT data FROM readings WHERE component_name = 'kinds' ORDER BY time_received");
  expect(bySql).toEqual(byMql);
  const whole = await mql([{ $match: condition }, { $sort: { time_received: 1 } }]);
  expect(whole).toHaveLength(readings.length);
  for (const [at, row] of whole.entries())
    expect(row).toMatchObject({ part_id: cloud.partId, tags: [], time_received: new Date(start + at) });
});

const oid = '0123456789abcdef01234567';
const extended = (value: object): unknown => expect.objectContaining(value);

/** A value of each BSON type, and how the client represents it. */
const types: readonly (readonly [string, unknown, unknown])[] = [
  ['double', new Double(2.5), 2.5],
  ['whole double', new Double(3), 3],
  ['negative zero', new Double(-0), -0],
  ['NaN', Number.NaN, Number.NaN],
  ['infinity', -Infinity, -Infinity],
  ['string', 'täxt 😀', 'täxt 😀'],
  ['document', { b: 1, a: { c: null } }, { b: 1, a: { c: null } }],
  ['array', [1, [2], {}], [1, [2], {}]],
  ['binary', new Binary(Buffer.from([1, 2, 3])), { $binary: { base64: 'AQID', subType: '00' } }],
  [
    'UUID',
    new Binary(Buffer.alloc(16, 7), 4),
    { $binary: { base64: Buffer.alloc(16, 7).toString('base64'), subType: '04' } },
  ],
  ['ObjectId', new ObjectId(oid), extended({ _id: Uint8Array.from(Buffer.from(oid, 'hex')) })],
  ['true', true, true],
  ['false', false, false],
  ['date', new Date(start + 123), new Date(start + 123)],
  ['date before 1970', new Date(-123_456), new Date(-123_456)],
  ['null', null, null],
  ['regular expression', new BSONRegExp('^a/b', 'im'), { $regularExpression: { pattern: '^a/b', options: 'im' } }],
  ['code', new Code('f()'), { $code: 'f()' }],
  ['code with scope', new Code('f()', { x: 1 }), { $code: 'f()', $scope: { x: 1 } }],
  ['symbol', new BSONSymbol('s'), { $symbol: 's' }],
  ['int32', new Int32(-7), -7],
  ['least int32', new Int32(-(2 ** 31)), -(2 ** 31)],
  ['timestamp', new Timestamp({ t: 5, i: 6 }), { $timestamp: { t: 5, i: 6 } }],
  ['int64', Long.fromString('9007199254740991'), 9_007_199_254_740_991],
  ['negative int64', Long.fromString('-9007199254740991'), -9_007_199_254_740_991],
  ['exact decimal', Decimal128.fromString('2.50'), 2.5],
  ['inexact decimal', Decimal128.fromString('0.1'), '0.1'],
  ['decimal NaN', Decimal128.fromString('NaN'), Number.NaN],
  ['MinKey', new MinKey(), { $minKey: 1 }],
  ['MaxKey', new MaxKey(), { $maxKey: 1 }],
];

const oneRow = [{ $match: { component_name: 'kinds' } }, { $limit: 1 }];

test.each(types)(
  'D7 a row with a %s is read, alone, in an array, in a document and among all others',
  async (_name, value, read) => {
    const literal = { $literal: value };
    const [row] = await mql([
      ...oneRow,
      {
        $project: {
          _id: 0,
          before: { $literal: 'a' },
          alone: literal,
          list: [literal, 1, literal],
          inside: { deeper: [{ it: literal }] },
          after: { $literal: 'z' },
        },
      },
    ]);
    expect(row).toEqual({
      before: 'a',
      alone: read,
      list: [read, 1, read],
      inside: { deeper: [{ it: read }] },
      after: 'z',
    });
  },
);

test('D7 a row of all types at once, as a group key and as accumulated values', async () => {
  const all = Object.fromEntries(types.map(([name, value]) => [name, value]));
  const expected = Object.fromEntries(types.map(([name, , read]) => [name, read]));
  const rows = await mql([
    ...oneRow,
    { $project: { all: { $literal: all } } },
    { $group: { _id: '$all', list: { $push: '$all' }, last: { $last: '$all' } } },
  ]);
  expect(rows).toEqual([{ _id: expected, list: [expected], last: expected }]);
});

test('D7 results that SQL computes are read: decimals, ids, dates, long numbers, nulls, documents and arrays', async () => {
  const rows = await sql(`SELECT CAST('2.5' AS DECIMAL) AS exact, CAST('0.1' AS DECIMAL) AS inexact,
    CAST('${oid}' AS OBJECTID) AS id, TIMESTAMP '2026-01-02T00:00:00Z' AS at, CAST(7 AS LONG) AS long,
    NULL AS nothing, {'a': [1, 'ü😀']} AS document, [] AS list, 1.5 AS number, 'it''s' AS text, TRUE AS yes
    FROM readings WHERE component_name = 'kinds' LIMIT 2`);
  const row = {
    exact: 2.5,
    inexact: '0.1',
    id: extended({ _id: Uint8Array.from(Buffer.from(oid, 'hex')) }),
    at: new Date(start),
    long: 7,
    nothing: null,
    document: { a: [1, 'ü😀'] },
    list: [],
    number: 1.5,
    text: "it's",
    yes: true,
  };
  expect(rows).toEqual([row, row]);
});

test('D7 no row is lost among many of all kinds', async () => {
  await upload(
    'many',
    Array.from({ length: 2_000 }, (_, n) => ({ n, kind: readings[n % 4] })),
  );
  const rows = await mql([
    { $match: { component_name: 'many' } },
    { $sort: { time_received: 1 } },
    {
      $project: {
        _id: 0,
        n: '$data.readings.n',
        kind: '$data.readings.kind',
        exact: { $toDecimal: '$data.readings.n' },
        key: { $literal: new MaxKey() },
      },
    },
  ]);
  expect(rows).toEqual(
    Array.from({ length: 2_000 }, (_, n) => ({ n, kind: readings[n % 4], exact: n, key: { $maxKey: 1 } })),
  );
});
