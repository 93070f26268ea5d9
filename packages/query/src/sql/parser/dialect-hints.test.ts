import { expect, test } from 'vitest';
import { QueryError } from '../../query-error.ts';
import { doc, runSql } from '../../testing/run.ts';
import { parseSql } from '../parse.ts';

const rows = [
  { component_name: 'arm', tags: ['a', 'b'], data: { readings: { x: 1, list: ['p'] } } },
  { component_name: 'leg', tags: ['b'], data: { readings: { x: 2 } } },
].map(doc);

async function refusal(text: string): Promise<QueryError> {
  try {
    await runSql(rows, text);
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
  throw new Error(`accepted: ${text}`);
}

const where = 'SELECT * FROM readings WHERE';

test.each([
  [`${where} time_received > CURRENT_TIMESTAMP - INTERVAL '1 hour'`, 66, 'write DATEADD(HOUR, -1, CURRENT_TIMESTAMP)'],
  [`${where} time_received > time_synced + INTERVAL 15 MINUTES`, 60, 'write DATEADD(MINUTE, 15, time_synced)'],
  [`${where} component_name == 'arm'`, 45, 'write = to compare'],
  [`${where} component_name = "arm"`, 47, "double quotes are for names: write the string as 'arm'"],
  [`${where} time_received > time_synced + INTERVAL '1-2' YEAR`, 60, 'write e.g. DATEADD(YEAR, 1, time_synced)'],
  [
    `${where} "compnent_name" = 'arm'`,
    30,
    "double quotes are for names: write the string as 'compnent_name', or did you mean component_name?",
  ],
  [`${where} component_name ILIKE 'a%'`, 45, 'write LIKE, which is not case-sensitive'],
  [`${where} component_name = 'a' && TRUE`, 51, 'write AND'],
  ['SELECT data.readings.x AS v FROM readings WHERE v > 1', 49, 'write data.readings.x'],
  [
    'SELECT data.readings.x * 2 AS v FROM readings WHERE v > 1',
    53,
    'repeat its expression in WHERE, or put the query in FROM: SELECT … FROM (SELECT …) AS t WHERE v …',
  ],
  [
    'SELECT COUNT(*) AS n FROM readings WHERE n > 1',
    42,
    'conditions on aggregates belong in HAVING: HAVING COUNT(*) …',
  ],
  ['SELECT component_name FROM readings ORDER component_name', 43, 'write ORDER BY component_name'],
  ['SELECT component_name FROM readings GROUP component_name', 43, 'write GROUP BY component_name'],
  [
    'SELECT component_name, COUNT(*) FROM readings GROUP BY 1',
    8,
    'GROUP BY 1 is the number 1, not a position in SELECT: write GROUP BY component_name',
  ],
  ['SELECT TOP 5 * FROM readings', 12, 'write LIMIT 5 at the end'],
  ['SELECT data->x FROM readings', 12, 'a field of a document is written a.b'],
  ['SELECT time_received + 1 FROM readings', 22, 'write DATEADD(HOUR, 1, time_received)'],
  ['SELECT * FROM readings a NATURAL JOIN readings b', 26, 'write JOIN … ON a.name = b.name'],
  ['SELECT * FROM readings a JOIN readings b USING (part_id)', 42, 'write ON a.name = b.name'],
  ['DELETE FROM readings', 1, 'statements only read: write SELECT'],
])('%s is refused with what to write here', async (text, column, hint) => {
  expect(await refusal(text)).toMatchObject({ line: 1, column, hint });
});

test('an invalid position in ORDER BY is refused with the number of selected columns', async () => {
  expect((await refusal('SELECT component_name FROM readings ORDER BY 5')).reason).toContain('found 5 of 1 selected');
});

test('an array compared with one value is refused with the UNWIND that finds it', async () => {
  const hint = "FROM UNWIND(readings WITH PATH => tags) to get one row per element, then write WHERE tags = 'a'";
  for (const condition of ["tags = 'a'", "tags <> 'a'", "tags IN ('a')", "'a' IN tags", "'a' = ANY(tags)"]) {
    const refused = await refusal(`${where} ${condition}`);
    expect(refused).toMatchObject({ line: 1, hint: expect.stringContaining(hint) });
  }
  const found = await runSql(rows, "SELECT component_name FROM UNWIND(readings WITH PATH => tags) WHERE tags = 'a'");
  expect(found).toEqual([doc({ component_name: 'arm' })]);
  expect(await runSql(rows, "SELECT component_name FROM readings WHERE tags = ['b']")).toHaveLength(1);
  expect(await runSql(rows, "SELECT component_name FROM readings WHERE tags[0] = 'a' AND SIZE(tags) = 2")).toHaveLength(
    1,
  );
});

test('errors call an operator as it was written, before any data is read and during reading', async () => {
  expect((await refusal('SELECT component_name + 1 FROM readings')).reason).toMatch(/^\+ takes a number, found string/);
  expect((await refusal('SELECT 1 || component_name FROM readings')).reason).toMatch(/^\|\| takes string, found int/);
  expect(await refusal('SELECT\n data.readings.list + 1 FROM readings')).toMatchObject({
    line: 2,
    column: 21,
    reason: '+ only supports numeric or date types, not array',
  });
  expect((await refusal('SELECT -data.readings.list FROM readings')).reason).toMatch(/^- only supports/);
  expect((await refusal('SELECT SQRT(data.readings.list) FROM readings')).reason).toMatch(/^SQRT only supports/);
});

test.each([
  ['parentheses', '('],
  ['subqueries', '(SELECT '],
  ['queries in FROM', '1 FROM (SELECT '],
  ['functions', 'ABS('],
  ['NOT', 'NOT '],
])('nesting of %s ends with its limit and what was found', (_, part) => {
  const parse = (times: number): (() => unknown) => {
    const run = (): unknown => parseSql(`SELECT ${part.repeat(times)}`);
    return run;
  };
  for (const times of [300, 10_000]) {
    expect(parse(times)).toThrow(/nested at most 200 levels deep, found '\(?\w*' at level 201/);
  }
});

test('subqueries within the limit are answered', async () => {
  const text = `SELECT ${'(SELECT '.repeat(150)}1${')'.repeat(150)} AS one`;
  expect((await runSql(rows, text)).map((row) => String(row.get('one')))).toHaveLength(1);
});
