/** The columns of an export: those that every reading has, then the paths of parameters and payload in order of first appearance. */
import { failedPrecondition } from '@platform/base/refusals';
import type { Scalar } from '@platform/sdk/cloud';
import { flatten } from '../query/flatten.ts';
import { exportedFields, exportedTimes } from './exported-line.ts';
import { parseRow } from './parse-row.ts';
import { readLines } from './spool.ts';

export type ColumnKind = 'text' | 'integer' | 'number' | 'boolean' | 'time' | 'mixed';

export interface Column {
  /** The kind of its values, or of the elements of its lists. */
  readonly kind: ColumnKind;
  readonly isList: boolean;
}

export type Cells = ReadonlyMap<string, string | Scalar>;

/** If each row had its own columns, the size of the file would grow with columns times rows. */
const maxColumns = 2_000;
const nested = ['method_parameters', 'payload'];
const texts: Column = { kind: 'text', isList: false };
const nonFinite: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity']);

/** @param path a spool. @throws failed_precondition if there are too many columns */
export async function inferColumns(path: string, format: string): Promise<Map<string, Column>> {
  const fixed = exportedFields.filter((name) => !nested.includes(name));
  const columns = new Map<string, Column>(fixed.map((name) => [name, texts]));
  for (const name of exportedTimes) columns.set(name, { kind: 'time', isList: false });
  columns.set('tags', { kind: 'text', isList: true });
  const kinds = new Map<string, Set<string>>();
  for await (const cells of cellsOf(path)) {
    for (const [name, cell] of cells) {
      if (columns.has(name)) continue;
      const seen = kinds.get(name) ?? new Set();
      for (const kind of kindsOf(cell)) seen.add(kind);
      kinds.set(name, seen);
    }
    if (kinds.size > maxColumns)
      throw failedPrecondition(
        `expected readings with at most ${maxColumns} different fields, each of which is a column in ${format}, found more; export them as ndjson`,
      );
  }
  for (const [name, seen] of kinds) columns.set(name, merged(seen));
  return columns;
}

/** The flattened rows of a spool; empty parameters and payloads get no columns. */
export async function* cellsOf(path: string): AsyncGenerator<Cells> {
  for await (const { text } of readLines(path)) {
    const cells = flatten(parseRow(text));
    for (const name of nested) cells.delete(name);
    yield cells;
  }
}

/** The kind of a value; of a list, the kinds of its elements after "list", without repetition. */
function kindsOf(cell: string | Scalar): readonly string[] {
  if (typeof cell === 'string') return [textKind(cell)];
  if (cell.isNumber) return [numberKind(Number(cell.text))];
  const list = listOf(cell);
  if (list !== undefined) return ['list', ...new Set(list.map((element) => `list ${elementKind(element)}`))];
  return [cell.json === 'true' || cell.json === 'false' ? 'boolean' : cell.json === 'null' ? 'null' : 'mixed'];
}

function elementKind(element: unknown): string {
  if (element === null) return 'null';
  if (typeof element === 'string') return textKind(element);
  if (typeof element === 'number') return numberKind(element);
  return typeof element === 'boolean' ? 'boolean' : 'mixed';
}

const textKind = (text: string): string => (nonFinite.has(text) ? 'non-finite' : 'text');
const numberKind = (value: number): string =>
  Number.isSafeInteger(value) && !Object.is(value, -0) ? 'integer' : 'number';

/** The elements of a cell that is a list; undefined: it is not. */
export function listOf(cell: string | Scalar): readonly unknown[] | undefined {
  return typeof cell !== 'string' && cell.json.startsWith('[') ? (JSON.parse(cell.json) as unknown[]) : undefined;
}

function merged(seen: ReadonlySet<string>): Column {
  const all = [...seen].filter((kind) => kind !== 'null');
  const listed = all.filter((kind) => kind.startsWith('list'));
  if (listed.length === 0) return { kind: mergedKind(all), isList: false };
  // Both lists and other values.
  if (listed.length < all.length) return { kind: 'mixed', isList: false };
  const elements = listed.filter((kind) => kind !== 'list').map((kind) => kind.slice('list '.length));
  const kind = mergedKind(elements.filter((element) => element !== 'null'));
  return kind === 'mixed' ? { kind, isList: false } : { kind, isList: true };
}

/** Numbers that JSON cannot represent are strings in a line. */
function mergedKind(all: readonly string[]): ColumnKind {
  const kinds = new Set(all);
  const has = (kind: string): boolean => kinds.has(kind);
  if (kinds.size === 0) return 'text';
  if (has('mixed')) return 'mixed';
  const isNumeric = has('integer') || has('number');
  if ([...kinds].every((kind) => kind === 'text' || kind === 'non-finite')) return 'text';
  if (isNumeric && !has('text') && !has('boolean'))
    return kinds.size === 1 ? ((all[0] ?? 'number') as ColumnKind) : 'number';
  return kinds.size === 1 && has('boolean') ? 'boolean' : 'mixed';
}
