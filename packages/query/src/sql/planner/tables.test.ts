import { expect, test } from 'vitest';
import { batchOf, documentsOf } from '../../bson/batch.ts';
import { BsonDate, BsonDocument, type BsonValue, Int32 } from '../../bson/value.ts';
import { execute } from '../../execute/execute.ts';
import { pathFilter } from '../../plan/path-filter.ts';
import { QueryError } from '../../query-error.ts';
import { doc } from '../../testing/run.ts';
import { parseSql, type RowForm, type Tables } from '../parse.ts';
import { kindOfSchema, type SqlSchema } from '../types/kind.ts';

const data: Readonly<Record<string, readonly object[]>> = {
  parts: [
    { id: 1, name: 'arm', tags: ['a', 'b'] },
    { id: 2, name: 'base', tags: [] },
    { id: 3, name: 'cam' },
  ],
  loads: [
    { part: 1, load: 5, at: { room: 'x' } },
    { part: 1, load: 7, at: { room: 'y' } },
    { part: 2, load: null },
    { part: null, load: 9 },
  ],
};

const schemas: Readonly<Record<string, SqlSchema>> = {
  parts: {
    bsonType: 'object',
    additionalProperties: false,
    required: ['id', 'name'],
    properties: { id: { bsonType: 'int' }, name: { bsonType: 'string' }, tags: { bsonType: 'array' } },
  },
  loads: {
    bsonType: 'object',
    additionalProperties: false,
    properties: {
      part: { bsonType: ['int', 'null'] },
      load: { bsonType: ['int', 'null'] },
      at: {
        bsonType: 'object',
        additionalProperties: false,
        required: ['room'],
        properties: { room: { bsonType: 'string' } },
      },
    },
  },
};

const tables: Tables = {
  database: 'db',
  databases: {
    db: Object.fromEntries(
      Object.keys(data).map((name) => [name, { source: name, kind: kindOfSchema(schemas[name]!) }]),
    ),
  },
};

async function select(text: string, form: RowForm = 'flat'): Promise<unknown[]> {
  const plan = parseSql(text, tables, form);
  const open = (source: string): ReturnType<typeof batchOf>[] => [batchOf((data[source] ?? []).map(doc))];
  const rows: unknown[] = [];
  for await (const batch of execute(plan.stages, open(plan.source), { open })) {
    for (const document of documentsOf(batch)) rows.push(plain(document));
  }
  return rows;
}

function plain(value: BsonValue): unknown {
  if (value instanceof BsonDocument) return Object.fromEntries([...value].map(([name, each]) => [name, plain(each)]));
  if (Array.isArray(value)) return value.map(plain);
  return value instanceof Int32 ? value.value : value instanceof BsonDate ? new Date(value.ms) : value;
}

function refusal(text: string, form: RowForm = 'flat'): QueryError {
  try {
    parseSql(text, tables, form);
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
  throw new Error(`accepted: ${text}`);
}

test('joins pair rows; null equals nothing; LEFT JOIN keeps rows without a partner', async () => {
  const on = 'parts AS p %JOIN loads AS l ON p.id = l.part ORDER BY p.id, l.load';
  expect(await select(`SELECT name, load FROM ${on.replace('%', '')}`)).toEqual([
    { name: 'arm', load: 5 },
    { name: 'arm', load: 7 },
    { name: 'base', load: null },
  ]);
  expect(await select(`SELECT name, load FROM ${on.replace('%', 'LEFT ')}`)).toEqual([
    { name: 'arm', load: 5 },
    { name: 'arm', load: 7 },
    { name: 'base', load: null },
    { name: 'cam' },
  ]);
  const partner =
    'SELECT l.* FROM parts p LEFT JOIN loads l ON p.id = l.part AND l.load = 5 WHERE p.id > 1 OR l.load = 5';
  expect(await select(partner, 'tables')).toEqual([{ l: data['loads']![0] }, {}, {}]);
  expect(await select('SELECT COUNT(*) AS n FROM parts, loads')).toEqual([{ n: 12 }]);
  expect(await select('SELECT COUNT(*) AS n FROM parts a JOIN parts b ON a.id < b.id')).toEqual([{ n: 3 }]);
});

test('rows of several tables keep their tables, or become flat by the rule for names that clash', async () => {
  const text = 'SELECT * FROM parts a JOIN parts b ON a.id = b.id WHERE a.id = 3';
  expect(await select(text, 'tables')).toEqual([{ a: { id: 3, name: 'cam' }, b: { id: 3, name: 'cam' } }]);
  expect(await select(text)).toEqual([{ id: 3, name: 'cam', b_id: 3, b_name: 'cam' }]);
  expect(refusal(text, 'merged').message).toContain('both have a column id');
  expect(await select('SELECT a.id, b.id FROM parts a JOIN parts b ON a.id = b.id LIMIT 1')).toEqual([
    { id: 1, id_2: 1 },
  ]);
  expect(refusal('SELECT a.id, b.id FROM parts a, parts b', 'tables').message).toContain('two columns are named id');
});

test('subqueries: values, EXISTS, IN, ANY and ALL are three-valued and see the row around them', async () => {
  const names = async (where: string): Promise<unknown> =>
    (await select(`SELECT name FROM parts p WHERE ${where} ORDER BY id`)).map((row) => Object.values(row as object)[0]);
  expect(await names('EXISTS (SELECT * FROM loads WHERE part = p.id)')).toEqual(['arm', 'base']);
  expect(await names('NOT EXISTS (SELECT * FROM loads l WHERE l.part = p.id AND l.load > 6)')).toEqual(['base', 'cam']);
  expect(await names('id IN (SELECT part FROM loads)')).toEqual(['arm', 'base']);
  expect(await names('id NOT IN (SELECT part FROM loads)')).toEqual([]);
  expect(await names('id NOT IN (SELECT part FROM loads WHERE part IS NOT NULL)')).toEqual(['cam']);
  expect(await names('id >= ALL (SELECT id FROM parts)')).toEqual(['cam']);
  expect(await names('7 = (SELECT MAX(load) FROM loads l WHERE l.part = p.id)')).toEqual(['arm']);
  expect(await select('SELECT MAX((SELECT MAX(load) FROM loads) + p.id) AS m FROM parts p ORDER BY m')).toEqual([
    { m: 12 },
  ]);
  expect(refusal('SELECT (SELECT load FROM loads) FROM parts').hint).toContain('LIMIT 1');
  expect(refusal('SELECT (SELECT * FROM loads LIMIT 1) FROM parts').message).toContain('one column');
});

test('a union has whole rows of both sides, even if only conditions read the second', async () => {
  const both = 'SELECT * FROM parts UNION ALL SELECT * FROM parts WHERE id = 2';
  expect(await select(both)).toEqual([...data['parts']!, data['parts']![1]]);
  expect(await select(both.replace(' ALL', ''))).toEqual(data['parts']);
  expect(await select(`SELECT name FROM (${both}) AS t WHERE id = 2`)).toEqual([{ name: 'base' }, { name: 'base' }]);
});

test('UNION, WITH, derived tables, arrays and no table at all', async () => {
  expect(await select('SELECT id FROM parts UNION ALL SELECT part AS id FROM loads WHERE part = 1')).toHaveLength(5);
  expect(await select('SELECT id FROM parts UNION SELECT part AS id FROM loads WHERE part = 1')).toHaveLength(3);
  expect(
    await select('WITH big AS (SELECT part, load FROM loads WHERE load > 5) SELECT b.load FROM big AS b ORDER BY 1'),
  ).toEqual([{ load: 7 }, { load: 9 }]);
  expect(await select('SELECT t.n FROM (SELECT COUNT(*) AS n FROM parts) AS t')).toEqual([{ n: 3 }]);
  expect(await select("SELECT a.b FROM [{'a': {'b': 1}}, {'a': {'b': 2}}] AS t ORDER BY a.b DESC")).toEqual([
    { b: 2 },
    { b: 1 },
  ]);
  expect(await select('SELECT 1 + 1 AS two')).toEqual([{ two: 2 }]);
});

test('UNWIND gives a row for each element, FLATTEN a column for each field inside', async () => {
  expect(await select('SELECT id, tags, i FROM UNWIND(parts WITH PATH => tags, INDEX => i)')).toEqual([
    { id: 1, tags: 'a', i: 0n },
    { id: 1, tags: 'b', i: 1n },
  ]);
  expect(await select('SELECT id FROM UNWIND(parts WITH PATH => tags, OUTER => TRUE)')).toHaveLength(4);
  expect(await select("SELECT at_room FROM FLATTEN(loads) WHERE at_room = 'y'")).toEqual([{ at_room: 'y' }]);
  expect(
    await select("SELECT * FROM FLATTEN([{'a': {'b': {'c': 1}}}] AS t WITH SEPARATOR => '.', DEPTH => 1)"),
  ).toEqual([{ 'a.b': { c: 1 } }]);
});

test('GROUP BY with AGGREGATE, generated names, and aggregates over several values', async () => {
  expect(
    await select(
      'SELECT * FROM loads GROUP BY part AGGREGATE SUM(load) AS total, COUNT(*) AS n ORDER BY part',
      'tables',
    ),
  ).toEqual([
    { loads: { part: null }, '': { total: 9, n: 1 } },
    { loads: { part: 1 }, '': { total: 12, n: 2 } },
    { loads: { part: 2 }, '': { total: 0, n: 1 } },
  ]);
  expect(await select('SELECT part + 1, MAX(load) FROM loads GROUP BY part + 1 HAVING MAX(load) = 7')).toEqual([
    { _1: 2, _2: 7 },
  ]);
});

test('clauses: each once, LIMIT with a comma, ORDER BY columns, aggregates only where they have a name', async () => {
  expect(await select('SELECT id FROM parts ORDER BY id LIMIT 2, 1')).toEqual([{ id: 2 }, { id: 3 }]);
  expect(await select('SELECT id FROM parts ORDER BY -id LIMIT 1')).toEqual([{ id: 3 }]);
  expect(refusal('SELECT id FROM parts LIMIT 1 LIMIT 2').column).toBe(30);
  expect(refusal("SELECT id FROM parts ORDER BY {'a': id}.a").hint).toContain('path');
  expect(refusal('SELECT id FROM parts ORDER BY 1 + 1').message).toContain('a constant');
  expect(refusal("SELECT VALUE {'n': COUNT(*)} FROM parts").hint).toContain('AGGREGATE COUNT(*) AS total');
  expect(refusal('SELECT * FROM parts AGGREGATE COUNT(*) AS n').column).toBe(21);
  expect(refusal('SELECT id FROM parts EXCEPT SELECT id FROM parts').hint).toContain('NOT EXISTS');
});

test('texts, casts with ON NULL and ON ERROR, types and Extended JSON', async () => {
  const one = async (list: string): Promise<unknown> => Object.values((await select(`SELECT ${list}`))[0] as object);
  expect(
    await one("SUBSTRING('abcd', 1, 2), SUBSTRING('abcd', 1), SPLIT('a-b', '-', 1), SPLIT('a-b', '-', -2)"),
  ).toEqual([...['bc', 'bcd', 'b', 'a']]);
  expect(await one("TRIM('  x '), LTRIM(' x '), TRIM(BOTH 'ab' FROM 'abxba'), POSITION('c' IN 'abc')")).toEqual([
    ...['x', 'x ', 'x', 2],
  ]);
  expect(
    await one(
      "CAST('x' AS INT, 0 ON ERROR), CAST(NULL AS INT, 1 ON NULL), CAST('x' AS INT), CAST(NULL AS INT, 2 ON ERROR)",
    ),
  ).toEqual([...[0, 1, null, null]]);
  expect(await one('CAST(\'x\' AS TIMESTAMP, 1 ON ERROR), +NULL, +\'{"$numberInt": "2"}\'')).toEqual([1, null, 2]);
  expect(await one(String.raw`'a_' LIKE 'a\_', 'ab' LIKE 'a\_', 'a\' LIKE 'a_', 'a%' LIKE 'a!%' ESCAPE '!'`)).toEqual([
    ...[true, false, true, true],
  ]);
  expect(refusal("SELECT 'a' LIKE 'b' ESCAPE 'xy'").message).toContain('one character');
  expect(
    await one('1 IS INT, 1 IS NUMBER, \'x\' IS NOT STRING, NULL IS MISSING, 1 = \'{"$numberLong": "1"}\''),
  ).toEqual([...[true, true, false, false, true]]);
  expect(
    await one(
      "DATEADD(DAY, 1, TIMESTAMP '2026-01-31'), DATEDIFF(MONTH, TIMESTAMP '2026-01-31', TIMESTAMP '2026-03-01')",
    ),
  ).toEqual([...[new Date('2026-02-01'), 2n]]);
});

test('Extended JSON also represents conditions, rows and operands of aggregates', async () => {
  expect(await select(`SELECT SUM('{"$numberInt": "2"}') AS s FROM parts WHERE 'true'`)).toEqual([{ s: 6 }]);
  expect(await select(`SELECT VALUE '{"a": {"$numberInt": "1"}}'`)).toEqual([{ a: 1 }]);
  expect(await select("SELECT p.id FROM parts p JOIN loads l ON 'false'")).toEqual([]);
  expect(refusal("SELECT * FROM parts WHERE 'x'").message).toContain('takes a condition, found string');
});

test('ODBC escapes and names mean the same as in the dialect', async () => {
  const time = "{ts '2026-02-03 04:05:06.007'}";
  const units = ['MILLISECOND', 'WEEK', 'QUARTER', 'DAYOFMONTH', 'DAYOFWEEK', 'DAYOFYEAR'];
  expect(await select(`SELECT VALUE {${units.map((unit) => `${unit}: ${unit}(${time})`).join()}}`)).toEqual([
    { MILLISECOND: 7, WEEK: 5, QUARTER: 1, DAYOFMONTH: 3, DAYOFWEEK: 3, DAYOFYEAR: 34 },
  ]);
  expect(await select(`SELECT {fn TIMESTAMPDIFF(SQL_TSI_DAY, {d '2026-02-01'}, ${time})} AS d`)).toEqual([{ d: 2n }]);
});

test('operations that schemas exclude are refused before any data is read, with line, column and what to do', () => {
  expect(refusal('SELECT *\nFROM parts WHERE nam = 1')).toMatchObject({
    line: 2,
    column: 18,
    hint: 'did you mean name?',
  });
  expect(refusal('SELECT name.x FROM parts').message).toContain('string has no field x');
  expect(refusal("SELECT * FROM parts WHERE id = 'x'").message).toContain('int cannot be compared with string');
  expect(refusal('SELECT SUM(name) FROM parts').message).toContain('SUM takes');
  expect(refusal('SELECT id FROM parts, parts AS p').message).toContain('ambiguous');
  expect(refusal('SELECT * FROM parts p WHERE id').message).toContain('takes a condition');
  expect(refusal('SELECT VALUE name FROM parts').message).toContain('takes a document');
  expect(refusal('SELECT * FROM (SELECT * FROM parts a, parts b) AS t').hint).toContain('aliases');
  expect(refusal('SELECT CAST(id AS SYMBOL) FROM parts').message).toContain('no cast');
  expect(refusal('SELECT * FROM a.b.parts').message).toContain('database and name');
});

test('values that may have a wrong type are refused, not only those that must', () => {
  const mixed = "FROM [{'a': 1, 'd': {'x': 1}}, {'a': 'x', 'd': 2}] AS t";
  expect(refusal(`SELECT a + 1 ${mixed}`).message).toContain('+ takes a number, found int or string');
  expect(refusal(`SELECT * ${mixed} WHERE a = 1`).message).toContain('int or string cannot be compared with int');
  expect(refusal(`SELECT COUNT(DISTINCT a) ${mixed}`).message).toContain('COUNT(DISTINCT …) takes values that compare');
  expect(refusal(`SELECT VALUE d ${mixed}`).message).toContain('takes a document');
  expect(refusal('SELECT CASE WHEN TRUE THEN 1 ELSE TRUE END + 1').message).toContain('int or bool');
  expect(refusal("SELECT SUBSTRING('abc', 1.5)").message).toContain('a whole number, found double');
  expect(refusal('SELECT 1::!STRING').message).toContain('int is never string');
});

test('fields are read from documents that may have them, items from arrays', async () => {
  expect(refusal("SELECT {'abc': 1}.abd").hint).toBe('did you mean abc?');
  expect(refusal('SELECT at.rom FROM loads').hint).toBe('did you mean room?');
  expect(refusal('SELECT tags.x FROM parts').hint).toContain('UNWIND');
  expect(refusal('SELECT at[0] FROM loads').hint).toContain("a['b'] for a field");
  expect(await select("SELECT tags[0] AS t, {'a': {'b': 1}}['a'].b FROM parts LIMIT 1")).toEqual([{ t: 'a', b: 1 }]);
});

test('FROM: an array holds values, INDEX is a new name, FLATTEN knows all or nothing', async () => {
  expect(refusal("SELECT (SELECT x FROM [{'x': id}] AS t) FROM parts").message).toContain(
    'only values, found the name id',
  );
  expect(refusal('SELECT * FROM UNWIND(parts WITH PATH => tags, INDEX => name)').hint).toContain('another name');
  expect(
    refusal("SELECT * FROM FLATTEN((SELECT VALUE {'a': CAST(id AS DOCUMENT)} FROM parts) AS t)").message,
  ).toContain('a may have more fields');
  const plan = parseSql('SELECT * FROM FLATTEN(readings)');
  const rows = [doc({ component_name: 'arm', data: { readings: { x: { y: 1 } } } })];
  const found: unknown[] = [];
  for await (const batch of execute(plan.stages, [batchOf(rows)])) found.push(...documentsOf(batch).map(plain));
  expect(found).toEqual([{ component_name: 'arm', data_readings_x_y: 1 }]);
});

test('SELECT VALUE of a non-document reports its position; ROUND to no place is null', async () => {
  const wrong = execute(parseSql('SELECT VALUE data FROM readings').stages, [batchOf([doc({ data: 1 })])], {}).next();
  await expect(wrong).rejects.toMatchObject({ codeName: 'TypeMismatch', line: 1, column: 14 });
  expect(await select('SELECT ROUND(1.25, 1) AS a, ROUND(1, 101) AS b, ROUND(1, NULL) AS c')).toEqual([
    { a: 1.2, b: null, c: null },
  ]);
});

test('conditions on one table of a join apply before the join', () => {
  const text = `SELECT a.data FROM readings a JOIN readings b ON a.part_id = b.part_id
    WHERE a.part_id = 'p' AND b.part_id IN ('q', 'r') AND a.time_received < b.time_received`;
  expect(pathFilter(parseSql(text)).columns.part_id).toEqual({ in: ['p', 'q', 'r'] });
});

test('statements that would grow without limit are refused', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `t${index}`);
  const doubling = names.map((name, index) => {
    const from = index === 0 ? 'parts' : names[index - 1];
    return `${name} AS (SELECT a.id AS id FROM ${from} a, ${from} b)`;
  });
  expect(refusal(`WITH ${doubling.join(', ')} SELECT * FROM t39`).message).toContain('1000 queries');
  expect(refusal(`SELECT ${'id, '.repeat(20_000)}id FROM parts`).message).toContain('10000 items');
  expect(refusal(`SELECT ${'(SELECT '.repeat(20_000)}`)).toBeInstanceOf(QueryError);
  expect(refusal(`SELECT ${'('.repeat(500_000)}`)).toBeInstanceOf(QueryError);
});

test('a join with more pairs of rows than time allows ends when its caller gives up', async () => {
  const rows = Array.from({ length: 2000 }, (_, n) => doc({ n }));
  const table = { source: 'many', kind: kindOfSchema({ bsonType: 'object' }) };
  const plan = parseSql('SELECT COUNT(*) AS n FROM many a, many b, many c', {
    database: 'db',
    databases: { db: { many: table } },
  });
  const cancel = new AbortController();
  const open = (): ReturnType<typeof batchOf>[] => [batchOf(rows)];
  // Once the join has begun to run and lets others run.
  setImmediate(() => cancel.abort());
  const running = execute(plan.stages, open(), { open, signal: cancel.signal }).next();
  await expect(running).rejects.toMatchObject({ codeName: 'Interrupted' });
});

test('errors for what the specification refuses say what to write', () => {
  expect(refusal('SELECT COUNT(*) AS n FROM loads GROUP BY n').message).toContain('n is an aggregate');
  expect(refusal('SELECT SUM(load) FROM loads GROUP BY part AGGREGATE COUNT(*) AS n').hint).toContain('SUM(load) AS');
  expect(refusal('SELECT 1 /* a /* b */').hint).toContain('nested');
  expect(refusal('SELECT 1 /* a').hint).toBe('close the comment with */');
  expect(refusal('SELECT * FROM UNWIND(parts WITH PATH => tags[FOO])').message).toContain('INDEX, OUTER or ]');
  const arrays = `tags${'[]'.repeat(101)}`;
  expect(refusal(`SELECT * FROM UNWIND(parts WITH PATH => ${arrays})`).message).toContain('100 arrays, found 101');
});
