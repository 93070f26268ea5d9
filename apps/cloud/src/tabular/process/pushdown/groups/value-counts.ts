/**
 * Groups that only compute percentiles of one leaf with few distinct numbers: each number is read once with its count, instead of all
 * numbers. This is common, because most sensors round. The conditions restrict the rows to series that the scope allows.
 */
import { createHash } from 'node:crypto';
import type { DuckDBConnection } from '@duckdb/node-api';
import { getOrInsert, memoized } from '@platform/base';
import {
  Binary,
  BsonDocument,
  DocumentBatch,
  encodeBson,
  type GroupStage,
  type Maybe,
  type PlanSplit,
} from '@platform/query';
import type { FileFacts } from '../../files/file-facts.ts';
import { hasCanonicalForm } from '../conditions/canonical-form.ts';
import type { ConditionContext } from '../conditions/condition.ts';
import { leafOfNumbers } from '../conditions/leaf.ts';
import { and, type Binds, onlyUsed, type Sql } from '../conditions/sql.ts';
import type { OpenFile } from '../open-files.ts';
import type { Chunk } from '../rows/chunk.ts';
import { isOfSeries } from '../series/series-values.ts';
import type { Emission } from '../statement.ts';

/** Number of distinct numbers in the row groups of a file, by column; undefined if unknown. */
type Distinct = Map<string, { readonly most: number; readonly sum: number } | undefined>;

const distincts = new WeakMap<FileFacts, Distinct>();

/** Reads how many distinct numbers files have, if the end of a split depends on it. Done once per file and column. */
export async function knowDistinct(
  connection: DuckDBConnection,
  files: readonly OpenFile[],
  end: PlanSplit['end'],
): Promise<void> {
  const path = end === 'rows' || end.k !== 'group' ? undefined : onePath(end);
  if (path === undefined) return;
  const asked = new Map<string, { readonly file: string; readonly column: string; readonly facts: FileFacts[] }>();
  for (const { path: file, facts, wanted } of files) {
    if (wanted.length === 0) continue;
    const column = leafOfNumbers(facts, path)?.columns.number;
    if (column === undefined || distincts.get(facts)?.has(column) === true) continue;
    const name = `${file} ${column}`;
    getOrInsert(asked, name, () => ({ file, column, facts: [] })).facts.push(facts);
  }
  if (asked.size === 0) return;
  const { LIST, VARCHAR, listValue } = await import('@duckdb/node-api');
  const columns = [...new Set([...asked.values()].map(({ column }) => column))];
  const paths = [...new Set([...asked.values()].map(({ file }) => file))];
  const result = await connection.runAndReadAll(
    `SELECT file_name, path_in_schema, CAST(max(stats_distinct_count) AS DOUBLE), CAST(sum(stats_distinct_count) AS DOUBLE)
FROM parquet_metadata($1) WHERE list_contains($2, path_in_schema) GROUP BY ALL HAVING bool_and(stats_distinct_count IS NOT NULL)`,
    [listValue(paths), listValue(columns)],
    [LIST(VARCHAR), LIST(VARCHAR)],
  );
  const found = new Map(
    (result.getRows() as [string, string, number, number][]).map(([file, column, most, sum]) => [
      `${file} ${column}`,
      { most, sum },
    ]),
  );
  for (const [name, { column, facts }] of asked) {
    for (const each of facts)
      getOrInsert<FileFacts, Distinct>(distincts, each, () => new Map()).set(column, found.get(name));
  }
}

/** Minimum rows per distinct number and key; below this, lists of all numbers are smaller. */
const fewestRows = 8;

/** @param where exactly the rows that are grouped. Undefined if another way is better or required. */
export function emitValueCounts(
  stage: GroupStage,
  { facts, values, binds }: ConditionContext & { readonly binds: Binds },
  where: readonly Sql[],
): Emission | undefined {
  const path = onePath(stage);
  const column = path && leafOfNumbers(facts, path)?.columns.number;
  const distinct = column === undefined ? undefined : distincts.get(facts)?.get(column);
  if (column === undefined || distinct === undefined) return undefined;
  const keys = values.values(stage.key);
  if (keys === undefined) return undefined;
  const { numbers, different, hash } = numbered(keys);
  // Row groups share most of their numbers, and each has few series.
  const pairs = Math.max(distinct.most * different.length, distinct.sum);
  if (pairs * fewestRows > facts.rows) return undefined;
  // A key that is constant within a file needs no lookup.
  const keyNumber =
    different.length === 1 ? 'CAST(0 AS INTEGER)' : `list_extract([${numbers.join(',')}]::INTEGER[], series + 1)`;
  const sql = `SELECT ${keyNumber}, ${column}, count(*) FROM read_parquet($1) WHERE ${and(where)} GROUP BY 1, 2`;
  return {
    kind: 'group',
    variant: `counts ${hash}`,
    ...onlyUsed(sql, binds.values),
    gathered: pairs * pairBytes,
    done: true,
    decode: () => (chunk) => countsOf(stage, different, chunk),
  };
}

/** Bytes of a number with its count while DuckDB groups. */
const pairBytes = 256;

/** The path below data of the single leaf whose percentiles all accumulators compute. */
function onePath({ key, accumulators }: GroupStage): readonly string[] | undefined {
  if (!isOfSeries(key) || !hasCanonicalForm(key) || accumulators.length === 0) return undefined;
  const paths = accumulators.map(([, { fn, arg }]) =>
    (fn === 'median' || fn === 'percentile') && arg.k === 'field' && arg.path[0] === 'data'
      ? arg.path.slice(1)
      : undefined,
  );
  const [first] = paths;
  return first !== undefined && paths.every((path) => path?.join('\0') === first.join('\0')) ? first : undefined;
}

interface Numbered {
  /** By series: the index of its key. */
  readonly numbers: readonly number[];
  /** Distinct keys, by index. */
  readonly different: readonly Maybe[];
  /** Hash of the distinct keys in order. */
  readonly hash: string;
}

const numbered = memoized((keys: readonly Maybe[]): Numbered => {
  const known = new Map<string, number>();
  const different: Maybe[] = [];
  const numbers = keys.map((key) => {
    const bytes = Buffer.from(encodeBson(BsonDocument.of({ key: key ?? null }))).toString('latin1');
    return getOrInsert(known, bytes, () => different.push(key) - 1);
  });
  const hash = createHash('sha256')
    .update([...known.keys()].join('\n'), 'latin1')
    .digest('base64');
  return { numbers, different, hash };
});

/** Builds a partial group for each key in the chunk. */
function countsOf({ accumulators }: GroupStage, keys: readonly Maybe[], chunk: Chunk): DocumentBatch {
  const [numbers, present, values, counts] = [chunk.int32(0), chunk.present(1), chunk.double(1), chunk.int64(2)];
  const groups = new Map<number, { values: number[]; counts: number[] }>();
  for (let row = 0; row < chunk.rows; row++) {
    const number = numbers[row] as number;
    const group = getOrInsert(groups, number, () => ({ values: [], counts: [] }));
    // A key without numbers still gets a group.
    if (!present(row)) continue;
    group.values.push(values[row] as number);
    group.counts.push(Number(counts[row]));
  }
  const documents = [...groups].map(([number, group]) => {
    const state = BsonDocument.of({ values: packed(group.values), counts: packed(group.counts) });
    return new BsonDocument([['_id', keys[number] ?? null], ...accumulators.map(([name]) => [name, state] as const)]);
  });
  return new DocumentBatch(documents, chunk.rows * 16);
}

function packed(numbers: readonly number[]): Binary {
  return new Binary(new Uint8Array(Float64Array.from(numbers).buffer));
}
