import { expect, test } from 'vitest';
import { BsonDate, type BsonDocument, Int32 } from '../bson/value.ts';
import { QueryError } from '../query-error.ts';
import { doc, runSql } from '../testing/run.ts';
import { parseSql } from './parse.ts';

const rows = [
  {
    component_name: 'cpu',
    time_received: new BsonDate(Date.UTC(2026, 0, 1)),
    data: { readings: { load: 0.5, 'odd name': 1 } },
  },
  { component_name: 'cpu', time_received: new BsonDate(Date.UTC(2026, 0, 2)), data: { readings: { load: 1.5 } } },
  { component_name: 'disk', time_received: new BsonDate(Date.UTC(2026, 0, 3)), data: { readings: { load: null } } },
  { component_name: "o'disk", time_received: new BsonDate(Date.UTC(2026, 0, 4)), data: { readings: {} } },
].map(doc);

async function select(text: string): Promise<object[]> {
  const plain = (row: BsonDocument): object =>
    Object.fromEntries([...row].map(([name, value]) => [name, value instanceof Int32 ? value.value : value]));
  return (await runSql(rows, text)).map(plain);
}

test('paths, aliases, quoting and the names of columns', async () => {
  expect(
    await select(
      "SELECT component_name AS c, r.data.readings.load, data.readings.`odd name`, 1 + 1 FROM sensorData.readings r WHERE component_name = 'cpu' LIMIT 1",
    ),
  ).toEqual([{ c: 'cpu', load: 0.5, 'odd name': 1, _4: 2 }]);
  expect(await select("SELECT component_name FROM readings WHERE component_name = 'o''disk'")).toEqual([
    { component_name: "o'disk" },
  ]);
  expect(await select('SELECT "component_name", component_name FROM readings LIMIT 1')).toEqual([
    { component_name: 'cpu', component_name_2: 'cpu' },
  ]);
  expect(await select("SELECT VALUE {'n': component_name} FROM readings LIMIT 1")).toEqual([{ n: 'cpu' }]);
});

test('null and missing are neither true nor false', async () => {
  const count = async (where: string): Promise<unknown> =>
    (await select(`SELECT COUNT(*) AS n FROM readings WHERE ${where}`))[0] ?? { n: 0 };
  expect(await count('data.readings.load > 1')).toEqual({ n: 1 });
  expect(await count('NOT data.readings.load > 1')).toEqual({ n: 1 });
  expect(await count('data.readings.load IS NULL')).toEqual({ n: 2 });
  expect(await count('data.readings.load IS NOT NULL')).toEqual({ n: 2 });
  expect(await count('data.readings.load > 1 OR TRUE')).toEqual({ n: 4 });
  expect(await count('data.readings.load NOT IN (0.5, NULL)')).toEqual({ n: 0 });
  expect(await count('data.readings.load IN (NULL, 2 - 0.5, component_name)')).toEqual({ n: 1 });
  expect(await count('data.readings.load IN (0.5, data.readings.load)')).toEqual({ n: 2 });
  expect(await count('data.readings.load NOT IN (0.5, component_name)')).toEqual({ n: 1 });
  expect(await count('data.readings.load NOT IN (0.5, data.readings.`odd name`)')).toEqual({ n: 0 });
  expect(await count('NULL IN (1) IS NULL')).toEqual({ n: 4 });
  expect(await count("component_name LIKE '%d_sk' AND data.readings.load BETWEEN 0 AND 9")).toEqual({ n: 0 });
});

test('groups, HAVING, ORDER BY an aggregate, an alias or a position, LIMIT and OFFSET', async () => {
  const text = `SELECT component_name AS c, AVG(data.readings.load) AS mean, COUNT(data.readings.load) AS n
    FROM readings GROUP BY component_name HAVING COUNT(*) >= 1`;
  const all = [
    { c: 'cpu', mean: 1, n: 2 },
    { c: 'disk', mean: null, n: 0 },
    { c: "o'disk", mean: null, n: 0 },
  ];
  expect(await select(`${text} ORDER BY c`)).toEqual(all);
  expect(await select(`${text} ORDER BY COUNT(*) DESC, 1 DESC LIMIT 2`)).toEqual([all[0], all[2]]);
  expect(await select(`${text} ORDER BY c LIMIT 1 OFFSET 1`)).toEqual([all[1]]);
  expect(await select('SELECT COUNT(*) AS n, SUM(data.readings.load) AS s FROM readings WHERE FALSE')).toEqual([]);
  expect(await select('SELECT COUNT(DISTINCT component_name) AS n FROM readings')).toEqual([{ n: 3 }]);
});

test('DISTINCT, CASE, CAST, and ORDER BY an expression', async () => {
  expect(await select('SELECT DISTINCT component_name FROM readings ORDER BY component_name DESC')).toEqual([
    { component_name: "o'disk" },
    { component_name: 'disk' },
    { component_name: 'cpu' },
  ]);
  expect(
    await select(
      "SELECT CASE component_name WHEN 'cpu' THEN 'c' ELSE 'd' END AS k FROM readings ORDER BY DAY(time_received) DESC LIMIT 1",
    ),
  ).toEqual([{ k: 'd' }]);
  expect(
    await select(
      "SELECT CAST('12' AS INT) AS i, CAST('x' AS DOUBLE) AS d, data.readings.load::STRING AS s FROM readings LIMIT 1",
    ),
  ).toEqual([{ i: 12, d: null, s: '0.5' }]);
  expect(
    await select("SELECT component_name FROM readings WHERE time_received >= CAST('2026-01-04' AS TIMESTAMP)"),
  ).toEqual([{ component_name: "o'disk" }]);
});

function refusal(text: string): QueryError {
  try {
    parseSql(text);
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
  throw new Error(`accepted: ${text}`);
}

test('UPPER and LOWER change the same letters as $toUpper and $toLower: those of ASCII', async () => {
  const [found] = await runSql(
    [doc({ component_name: 'Éstraße' })],
    'SELECT UPPER(component_name) AS up, LOWER(component_name) AS low FROM readings',
  );
  expect([found?.get('up'), found?.get('low')]).toEqual(['ÉSTRAßE', 'Éstraße']);
});

test('an invalid statement is refused with line, column and a hint', () => {
  expect(refusal('SELECT *\nFORM readings')).toMatchObject({ line: 2, column: 1, hint: 'did you mean FROM?' });
  expect(refusal('SELECT compnent_name FROM readings')).toMatchObject({
    column: 8,
    hint: 'did you mean component_name?',
  });
  expect(refusal('SELECT * FROM reading')).toMatchObject({ column: 15, hint: expect.stringContaining('readings') });
  expect(refusal('SELECT CAST(time_received AS DATE) FROM readings')).toMatchObject({ hint: 'use timestamp' });
  expect(refusal("SELECT * FROM readings WHERE component_name = 'x")).toMatchObject({ column: 47 });
  expect(refusal("SELECT * FROM readings WHERE time_received > '2026-01-01'").hint).toContain(
    "CAST('2026-01-01' AS TIMESTAMP)",
  );
  expect(refusal('SELECT data.x, COUNT(*) FROM readings').message).toContain('neither grouped nor aggregated');
  expect(refusal('SELECT 1a FROM readings').hint).toContain('backticks');
  expect(refusal('SELECT 1 /* one')).toMatchObject({ column: 10, hint: 'close the comment with */' });
  expect(refusal('SELECT GETDATE()')).toMatchObject({ column: 8, hint: 'write CURRENT_TIMESTAMP' });
  expect(refusal('SELECT * FROM readings, readings').message).toContain('two tables are named readings');
  expect(refusal(`SELECT ${'('.repeat(300)}1`).message).toContain('nested');
  expect(refusal(`SELECT '${'x'.repeat(1024 * 1024)}' FROM readings`).message).toContain('characters');
});

test('D48 a statement with too many words, values and symbols is refused where there are too many', () => {
  const listed = (count: number): string => `SELECT 1 AS one FROM readings WHERE data.a IN (${'1,'.repeat(count)}1)`;
  expect(parseSql(listed(24_900)).stages).not.toEqual([]);
  expect(() => parseSql(listed(25_000))).toThrow(/^line 1, column \d+: a statement can have at most 50000 words/);
});
