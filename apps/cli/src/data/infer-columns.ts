/** The columns of an export: those that every reading has, then the paths of parameters and payload in order of first appearance. */
import { PlatformError, type Scalar } from '@platform/sdk/cloud';
import { flatten } from '../query/flatten.ts';
import { exportedFields } from './exported-line.ts';
import { parseRow } from './parse-row.ts';
import { readLines } from './read-lines.ts';

export type ColumnKind = 'text' | 'number' | 'boolean' | 'time' | 'mixed';
export type Cells = ReadonlyMap<string, string | Scalar>;

/** If each row had its own columns, the size of the file would grow with columns times rows. */
const maxColumns = 2_000;
const nested = ['method_parameters', 'payload'];
const nonFinite: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity']);

/** @param path a spool. @throws failed_precondition if there are too many columns */
export async function inferColumns(path: string, format: string): Promise<Map<string, ColumnKind>> {
  const fixed = exportedFields.filter((name) => !nested.includes(name));
  const columns = new Map<string, ColumnKind>(fixed.map((name) => [name, 'text']));
  columns.set('time_captured', 'time');
  const kinds = new Map<string, Set<string>>();
  for await (const cells of cellsOf(path)) {
    for (const [name, cell] of cells) {
      if (columns.has(name)) continue;
      const seen = kinds.get(name) ?? new Set();
      kinds.set(name, seen.add(kindOf(cell)));
    }
    if (kinds.size > maxColumns)
      throw new PlatformError(
        'failed_precondition',
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

function kindOf(cell: string | Scalar): string {
  if (typeof cell === 'string') return nonFinite.has(cell) ? 'non-finite' : 'text';
  if (cell.isNumber) return 'number';
  return cell.json === 'true' || cell.json === 'false' ? 'boolean' : cell.json === 'null' ? 'null' : 'mixed';
}

/** Numbers that JSON cannot represent are strings in a line. */
function merged(seen: ReadonlySet<string>): ColumnKind {
  const kinds = new Set([...seen].filter((kind) => kind !== 'null'));
  if (kinds.has('number')) kinds.delete('non-finite');
  const [only = 'text', ...others] = kinds;
  if (others.length > 0 || only === 'mixed') return kinds.has('non-finite') && isTexts(kinds) ? 'text' : 'mixed';
  return only === 'non-finite' ? 'text' : (only as ColumnKind);
}

function isTexts(kinds: ReadonlySet<string>): boolean {
  return [...kinds].every((kind) => kind === 'text' || kind === 'non-finite');
}
