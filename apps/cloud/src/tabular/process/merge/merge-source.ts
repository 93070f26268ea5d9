/**
 * SQL for rows from several slices, with their combined series and leaf columns. Used by sealing, merging and compaction. It never contains
 * names from users.
 */
import { getOrInsert } from '@platform/base';
import { timeColumns } from '@platform/query';
import type { Series } from '../../catalog/series.ts';
import { quoted } from '../duckdb/database.ts';
import { kind, leafColumns, type NewestRow } from '../files/file-facts.ts';
import { dayKey, rowsOf, type Slice, slicesByDay } from '../files/slice.ts';
import { startOfMs } from '../hot/series-facts.ts';
import { seriesSortKey } from '../hot/sort-rows.ts';
import { identityOf } from '../pushdown/series/series-identity.ts';
import { noTime } from '../rows/row-buffer.ts';
import { hotLeafColumns } from '../shred/column-buffers.ts';
import { columnOfPath, newColumnBudget } from '../shred/describe-leaves.ts';
import { type MergedLeaf, mergeLeaves } from './merge-leaves.ts';

/** Columns that every file has. */
export const rowColumns: readonly string[] = ['position', '"index"', ...timeColumns, 'size', 'data'];

export interface MergeSource {
  /** By number, in the order of the output files. */
  readonly series: readonly Series[];
  /** By organization and day, in the order of their numbers. */
  readonly slices: readonly MergedSlice[];
  /** Names of the leaves' columns. */
  readonly columns: readonly string[];
  readonly rows: number;
  /** By number: the series' newest row, from the slices' own facts; undefined unless they contain it for all series. */
  newest(): ReadonlyMap<number, NewestRow> | undefined;
  /**
   * SELECT of the row's `number` and of columns (`rowColumns` and `columns`); missing times are noTime.
   * @param kept condition on the rows, in terms of `number` and the files' own columns. Default: all rows.
   */
  select(columns: readonly string[], kept?: string): string;
}

export interface MergedSlice {
  readonly captureDay: string;
  /** Numbers of its series: from `first` to before `end`. */
  readonly first: number;
  readonly end: number;
  readonly leaves: readonly MergedLeaf[];
}

/** @param isHot whether a hot file is written, which has kind columns that a sealed file can omit */
export function mergeSource(slices: readonly Slice[], isHot: boolean): MergeSource {
  const numbered = numberSeries(slices);
  const columnBudget = newColumnBudget();
  const merged = numbered.slices.map((slice) => ({
    ...slice,
    leaves: mergeLeaves(slice.of, numbered.rows, columnBudget),
  }));
  const columns = new Set(
    merged.flatMap(({ leaves }) =>
      leaves.flatMap((leaf) => Object.values(isHot ? hotLeafColumns(leaf) : leafColumns(leaf))),
    ),
  );
  const files = [...new Set(slices.map(({ path }) => path))];
  const expressions = new Map([...kindExpressions(columns, slices, files)]);
  const { number, isWhole } = numberSql(slices, numbered.numbers, files);
  // With one file, row groups that hold only other rows can be skipped.
  const [only] = slices;
  const stretch =
    slices.length === 1 && only !== undefined
      ? `series >= ${only.first} AND series < ${only.first + only.series.length}`
      : 'number >= 0';
  return {
    series: numbered.series,
    slices: merged,
    columns: [...columns],
    rows: numbered.rows,
    newest: () => newestOf(slices, numbered.numbers),
    select(read, kept) {
      const items = read.map((column) => {
        if (column.startsWith('time_')) return `coalesce(${column}, ${noTime}) AS ${column}`;
        const expression = expressions.get(column);
        return expression === undefined ? column : `${expression} AS ${column}`;
      });
      const where = [...(isWhole ? [] : [stretch]), ...(kept === undefined ? [] : [`(${kept})`])];
      return `SELECT ${[`${number} AS number`, ...items].join(', ')}
        FROM read_parquet([${files.map(quoted).join(', ')}], union_by_name = true)${where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`}`;
    },
  };
}

interface Numbered {
  readonly series: readonly Series[];
  /** For each slice, the numbers of its series in its own order. */
  readonly numbers: readonly (readonly number[])[];
  readonly slices: readonly { captureDay: string; first: number; end: number; of: readonly Slice[] }[];
  readonly rows: number;
}

/** The series of one organization and day are adjacent, in the order of sealed files. */
function numberSeries(slices: readonly Slice[]): Numbered {
  const series: Series[] = [];
  const numberOf = new Map<Slice, readonly number[]>();
  const keyOf = ([first]: readonly Slice[]): string => (first === undefined ? '' : dayKey(first));
  const numbered = slicesByDay(slices)
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .map((of) => {
      const { captureDay } = of[0] as Slice;
      const first = series.length;
      const known = new Map<string, { readonly series: Series; readonly sortKey: string; number: number }>();
      const entries = of.map((slice) =>
        slice.series.map((each) => {
          const { path, tags, additionalParameters } = each;
          return getOrInsert(known, identityOf(each), () => ({
            series: { path, tags, additionalParameters },
            sortKey: seriesSortKey(each),
            number: 0,
          }));
        }),
      );
      const sorted = [...known.values()].sort((a, b) => (a.sortKey < b.sortKey ? -1 : a.sortKey > b.sortKey ? 1 : 0));
      for (const entry of sorted) entry.number = series.push(entry.series) - 1;
      for (const [i, slice] of of.entries())
        numberOf.set(
          slice,
          (entries[i] ?? []).map(({ number }) => number),
        );
      return { captureDay, first, end: series.length, of };
    });
  return {
    series,
    numbers: slices.map((slice) => numberOf.get(slice) ?? []),
    slices: numbered,
    rows: rowsOf(slices),
  };
}

/** Of the rows in the latest millisecond of a series, the first in the order of files. */
function newestOf(
  slices: readonly Slice[],
  numbers: readonly (readonly number[])[],
): ReadonlyMap<number, NewestRow> | undefined {
  const latest = new Map<number, { readonly since: bigint; readonly row: NewestRow }>();
  for (const [at, slice] of slices.entries())
    for (const [i, { received, newest: row }] of slice.series.entries()) {
      if (received.max === null) continue;
      if (row === undefined) return undefined;
      const number = numbers[at]?.[i] as number;
      const since = startOfMs(received.max);
      const known = latest.get(number);
      if (known === undefined || since > known.since || (since === known.since && isBefore(row, known.row)))
        latest.set(number, { since, row });
    }
  return new Map([...latest].map(([number, { row }]) => [number, row]));
}

function isBefore(a: NewestRow, b: NewestRow): boolean {
  if (a.timeReceived !== b.timeReceived) return a.timeReceived < b.timeReceived;
  return a.position === b.position ? a.index < b.index : a.position < b.position;
}

/** SQL that maps a row's file and series number to its `number`; -1 for a row of a slice that was not requested. */
function numberSql(
  slices: readonly Slice[],
  numbers: Numbered['numbers'],
  files: readonly string[],
): { number: string; isWhole: boolean } {
  const offsets: number[] = [];
  const all: number[] = [];
  for (const path of files) {
    const first = all.length;
    offsets.push(first);
    for (const [at, slice] of slices.entries()) {
      if (slice.path !== path) continue;
      // In a file with several slices, the last series may belong to a slice that was not requested.
      while (all.length < first + slice.facts.series.length) all.push(-1);
      for (const [i, number] of (numbers[at] ?? []).entries()) all[first + slice.first + i] = number;
    }
  }
  const isWhole = !all.includes(-1);
  if (all.length === 1) return { number: 'CAST(0 AS INTEGER)', isWhole };
  const offset = `list_extract([${offsets.join(',')}]::INTEGER[], CAST(file_index AS INTEGER) + 1)`;
  return { number: `list_extract([${all.join(',')}]::INTEGER[], ${offset} + series + 1)`, isWhole };
}

/** A row's kind, from its own column; otherwise from its value; otherwise it is the single kind of all rows of its file. */
function* kindExpressions(
  columns: ReadonlySet<string>,
  slices: readonly Slice[],
  files: readonly string[],
): Generator<[column: string, expression: string]> {
  const stored = new Set<string>();
  /** By prefix of the columns' names, then by file: kinds of sealed files' leaves. */
  const kinds = new Map<string, Map<string, number>>();
  for (const { path, leaves, facts } of slices) {
    const isSealed = facts.hasPaths !== false;
    for (const leaf of leaves) {
      for (const name of Object.values(isSealed ? leafColumns(leaf) : hotLeafColumns(leaf))) stored.add(name);
      if (!isSealed) continue;
      const column = columnOfPath(leaf.path);
      getOrInsert(kinds, column, () => new Map<string, number>()).set(path, leaf.kinds);
    }
  }
  for (const name of columns) {
    if (!name.endsWith('_k')) continue;
    const column = name.slice(0, -2);
    const parts = stored.has(name) ? [name] : [];
    const values = [
      ['n', kind.double],
      ['s', kind.string],
      ['b', kind.bool],
    ].filter(([suffix]) => stored.has(`${column}_${suffix}`));
    if (values.length > 0)
      parts.push(
        `CASE ${values.map(([suffix, bit]) => `WHEN ${column}_${suffix} IS NOT NULL THEN ${bit}`).join(' ')} END`,
      );
    const only = files.map((path) => {
      const bits = kinds.get(column)?.get(path) ?? 0;
      return bits === kind.null || bits === kind.object || bits === kind.array ? String(bits) : 'NULL';
    });
    if (only.some((bits) => bits !== 'NULL'))
      parts.push(`list_extract([${only.join(',')}]::UTINYINT[], CAST(file_index AS INTEGER) + 1)`);
    yield [name, `CAST(coalesce(${parts.join(', ')}) AS UTINYINT)`];
  }
}
