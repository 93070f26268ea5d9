import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  Decimal128,
  Double,
  deserialize,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  serialize,
  Timestamp,
} from 'bson';
import { expect, test } from 'vitest';
import { parseStages } from './parse-stages.ts';
import { readRow } from './read-row.ts';
import { relaxedJson, typedJson } from './relaxed-json.ts';

const keep = { promoteValues: false, bsonRegExp: true } as const;
const stage = (text: string) => deserialize(parseStages(text)[0] ?? new Uint8Array(), keep);
const shown = (value: unknown): string => relaxedJson(readRow(serialize({ v: value }, { ignoreUndefined: false })));

test('numbers become int32, int64 or double as they were typed, with all their digits', () => {
  expect(
    stage('{"a": [2147483647, -2147483648, 2147483648, 9007199254740993, 1.0, 1e3, -0, 9223372036854775808]}'),
  ).toEqual({
    a: [
      new Int32(2_147_483_647),
      new Int32(-2_147_483_648),
      Long.fromString('2147483648'),
      Long.fromString('9007199254740993'),
      new Double(1),
      new Double(1000),
      new Double(-0),
      new Double(2 ** 63),
    ],
  });
});

test('a stage with explicit types is read back byte for byte', () => {
  const int64s = [0, 7, -1, 2_147_483_647, -2_147_483_648].map((n) => Long.fromNumber(n));
  const numbers = [
    ...int64s,
    Long.fromString('2147483648'),
    Long.MAX_VALUE,
    new Int32(7),
    new Double(7),
    new Double(-0),
  ];
  const others = [Decimal128.fromString('1.50'), new Double(Number.NaN), 'a', true, null, new Date(5), new Date(-5)];
  const bson = serialize({
    $match: { a: { $in: [...numbers, ...others] }, b: new ObjectId(), c: /x/i, d: new MaxKey() },
  });
  expect(parseStages(typedJson(readRow(bson)))[0]).toEqual(bson);
  expect(typedJson(readRow(serialize({ v: Long.fromNumber(7) })))).toBe('{"v":{"$numberLong":"7"}}');
  expect(shown(Long.fromNumber(7))).toBe('{"v":7}');
});

test('keys keep their order, even those that look like numbers and __proto__', () => {
  const text = '{"$project":{"2":1,"1":{"b":0,"0":null},"__proto__":true}}';
  expect(relaxedJson(readRow(parseStages(text)[0] ?? new Uint8Array()))).toBe(text);
});

test('wrappers of Extended JSON become their values, operators are unchanged', () => {
  const at = new Date('2026-01-31T12:00:00.500Z');
  expect(stage('{"a":{"$date":"2026-01-31T12:00:00.5Z"},"b":{"$date":{"$numberLong":"1769860800500"}}}')).toEqual({
    a: at,
    b: at,
  });
  expect(stage('{"a":{"$date":"2026-01-31"},"b":{"$date":0}}')).toEqual({ a: new Date('2026-01-31'), b: new Date(0) });
  const id = '0123456789abcdef01234567';
  expect(
    stage(`{"a":{"$oid":"${id}"},"b":{"$numberDecimal":"1.50"},"c":{"$numberLong":"7"},"d":{"$minKey":1}}`),
  ).toEqual({
    a: new ObjectId(id),
    b: Decimal128.fromString('1.50'),
    c: Long.fromNumber(7),
    d: new MinKey(),
  });
  expect(stage('{"$match":{"a":{"$regex":"x","$options":"i"},"b":{"$not":{"$gt":1}}}}')).toEqual({
    $match: { a: { $regex: 'x', $options: 'i' }, b: { $not: { $gt: new Int32(1) } } },
  });
});

test('one stage is a pipeline, and no stage is an empty one', () => {
  const namesOf = (text: string) => parseStages(text).map((bson) => Object.keys(deserialize(bson))[0]);
  expect(namesOf('{"$limit": 1}')).toEqual(['$limit']);
  expect(namesOf('[{"$match": {}}, {"$limit": 1}]')).toEqual(['$match', '$limit']);
  expect(parseStages(' [] ')).toEqual([]);
});

test('the error for an invalid pipeline says what was expected, what was found, and where', () => {
  const cases: readonly [string, string][] = [
    ["[{'$limit':3}]", 'line 1, column 3: expected a string in double quotes, found "\'$limit\':3}]"'],
    ['[\n {"$limit":3}', 'line 2, column 14: expected "," or "]", found the end of the text'],
    ['[{"$limit":3}] x', 'line 1, column 16: expected the end of the text, found "x"'],
    ['[{"$limit":03}]', 'line 1, column 13: expected "," or "}", found "3}]"'],
    ['{"a":1,"a":2}', 'line 1, column 8: expected each key once, found "\\"a\\":2}"'],
    ['', 'line 1, column 1: expected a value, found the end of the text'],
    ['3', 'stage 0: expected an object such as {"$limit": 3}, found 3'],
    ['[{}, []]', 'stage 1: expected an object such as {"$limit": 3}, found an array'],
    [
      '[{"$match":{"a":{"$date":"soon"}}}]',
      'stage 0 ($match): expected a value of Extended JSON, found {"$date":"soon"}: ',
    ],
    ['[{"$match":{"a":{"$oid":"zz"}}}]', 'stage 0 ($match): expected a value of Extended JSON, found {"$oid":"zz"}: '],
    [
      '[{"$match":{"a":{"$numberLong":7}}}]',
      'stage 0 ($match): expected a value of Extended JSON, found {"$numberLong":7}',
    ],
    ['['.repeat(101), 'line 1, column 101: expected at most 100 levels, found "["'],
  ];
  for (const [text, message] of cases) {
    expect(() => parseStages(text), text).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
    expect(() => parseStages(text), text).toThrow(message);
  }
});

test.each<[string, unknown, string]>([
  ['double', 2.5, '2.5'],
  ['whole double', new Double(3), '3.0'],
  ['negative zero', new Double(-0), '-0.0'],
  ['great double', 1e300, '1e+300'],
  ['NaN', Number.NaN, '{"$numberDouble":"NaN"}'],
  ['infinity', -Infinity, '{"$numberDouble":"-Infinity"}'],
  ['int32', new Int32(-7), '-7'],
  ['int64', Long.fromString('9007199254740993'), '9007199254740993'],
  ['text', 'a"\n\u001b', '"a\\"\\n\\u001b"'],
  ['time', new Date(1_500), '{"$date":"1970-01-01T00:00:01.500Z"}'],
  ['time before 1970', new Date(-1), '{"$date":{"$numberLong":"-1"}}'],
  ['null', null, 'null'],
  ['undefined', undefined, 'null'],
  ['boolean', true, 'true'],
  ['array', [1, [], {}], '[1,[],{}]'],
  ['ObjectId', new ObjectId('0123456789abcdef01234567'), '{"$oid":"0123456789abcdef01234567"}'],
  ['Decimal128', Decimal128.fromString('1.50'), '{"$numberDecimal":"1.50"}'],
  ['binary', new Binary(Buffer.from([1, 2]), 5), '{"$binary":{"base64":"AQI=","subType":"05"}}'],
  ['regular expression', new BSONRegExp('a', 'im'), '{"$regularExpression":{"pattern":"a","options":"im"}}'],
  ['timestamp', new Timestamp({ t: 5, i: 6 }), '{"$timestamp":{"t":5,"i":6}}'],
  ['code', new Code('f()', { x: 1 }), '{"$code":"f()","$scope":{"x":1}}'],
  ['symbol', new BSONSymbol('s'), '{"$symbol":"s"}'],
  ['MinKey', new MinKey(), '{"$minKey":1}'],
  ['MaxKey', new MaxKey(), '{"$maxKey":1}'],
])('a %s is written as relaxed Extended JSON', (_name, value, json) => {
  expect(shown(value)).toBe(`{"v":${json}}`);
});
