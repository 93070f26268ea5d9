import { expect, test } from 'vitest';
import { clauseWords } from './describe-clause.ts';

/** The description of the first of these signs in the statement. */
function told(text: string, sign: string): string {
  const lines = text.slice(0, text.indexOf(sign)).split('\n');
  return clauseWords(text)(`line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`);
}

test('a position is described with its clause, whatever surrounds it', () => {
  const text = `SELECT a + 1 AS b, CAST(c AS INT, 0 ON NULL) / 2 AS d FROM readings -- WHERE
    WHERE (data.\`order\` > 3 OR \`from\` < 4)
    AND EXTRACT(YEAR FROM time_received) = 2026 GROUP BY a HAVING COUNT(*) >= 5 ORDER BY -a LIMIT 3`;
  expect(told(text, '+')).toBe('SELECT (line 1, column 10)');
  expect(told(text, '/')).toBe('SELECT (line 1, column 46)');
  expect(told(text, '>')).toBe('WHERE (line 2, column 25)');
  expect(told(text, '<')).toMatch(/^WHERE /);
  expect(told(text, '= 2026')).toMatch(/^WHERE \(line 3/);
  expect(told(text, '>=')).toMatch(/^HAVING /);
  expect(told(text, '-a')).toMatch(/^ORDER BY /);
  const join =
    'SELECT * FROM a JOIN b ON a.x = b.x JOIN c ON a.y <> c.y WHERE a.z IN (SELECT w FROM d WHERE w > 1) AND v < 2';
  expect(told(join, '=')).toMatch(/^ON /);
  expect(told(join, '<>')).toMatch(/^ON /);
  expect(told(join, '> 1')).toMatch(/^WHERE /);
  expect(told(join, '< 2')).toMatch(/^WHERE /);
  expect(told('SELECT n FROM (SELECT a < 1 AS n FROM readings WHERE b > 2)', '<')).toMatch(/^SELECT /);
});

test('a stage is described as the clause that requires it', () => {
  const words = clauseWords('SELECT a FROM readings GROUP BY a ORDER BY a LIMIT 3');
  expect(['$project', '$group', '$sort', '$limit', '$match', 'newest'].map(words)).toEqual([
    'SELECT',
    'GROUP BY',
    'ORDER BY',
    'LIMIT',
    'WHERE',
    'newest',
  ]);
  expect(clauseWords('SELECT COUNT(DISTINCT a) AS n FROM readings')('$group')).toBe('aggregates');
  expect(clauseWords('SELECT n FROM (SELECT COUNT(*) AS n FROM r GROUP BY a)')('$group')).toBe('GROUP BY');
  expect(clauseWords('SELECT MAX(b) AS b FROM r WHERE a IN (SELECT a FROM r GROUP BY a)')('$group')).toBe('aggregates');
});
