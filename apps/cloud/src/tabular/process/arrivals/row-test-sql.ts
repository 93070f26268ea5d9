/** SQL for the rows of a file that may pass a test: a superset, based on the columns that the file has. */
import type { RowTest } from '../../arrivals/arrived-rows.ts';
import { type FileFacts, kind } from '../files/file-facts.ts';
import { leafAt } from '../pushdown/conditions/leaf.ts';
import { and, type Binds, no, or, type Sql, yes } from '../pushdown/conditions/sql.ts';

export function rowTestSql(test: RowTest, facts: FileFacts, binds: Binds): Sql {
  switch (test.k) {
    case 'unknown':
      return yes;
    case 'all':
      return and(test.of.map((one) => rowTestSql(one, facts, binds)));
    case 'any':
      return or(test.of.map((one) => rowTestSql(one, facts, binds)));
    case 'test':
      return or(test.paths.map((path) => testAt(path, test, facts, binds)));
  }
}

const comparisons = { lt: '<', lte: '<=', gt: '>', gte: '>=', eq: '=' } as const;

function testAt(
  path: readonly string[],
  { operator, value }: Extract<RowTest, { k: 'test' }>,
  facts: FileFacts,
  binds: Binds,
): Sql {
  const leaf = leafAt(facts, path);
  // A number in a path selects from an array, whose items have no columns.
  if (leaf === undefined || leaf.isThroughArray) return yes;
  const { kinds, columns } = leaf;
  if (operator === 'is' || value === undefined) return kinds === kind.missing ? no : yes;
  const has = (bit: number): boolean => (kinds & bit) !== 0;
  if (typeof value === 'number') {
    if (!has(kind.double)) return no;
    // DuckDB treats NaN as greater than all numbers, so it can only keep more rows.
    return columns.number === undefined
      ? yes
      : `${columns.number} ${comparisons[operator]} ${binds.of({ type: 'double', value })}`;
  }
  if (typeof value === 'boolean') {
    if (!has(kind.bool)) return no;
    return columns.bool === undefined || operator !== 'eq' ? yes : `${columns.bool} = ${value}`;
  }
  if (!has(kind.string)) return no;
  if (columns.text === undefined) return yes;
  // Conditions order text by UTF-16 units, DuckDB by bytes.
  return operator === 'eq' ? `${columns.text} = ${binds.of({ type: 'text', value })}` : `${columns.text} IS NOT NULL`;
}
