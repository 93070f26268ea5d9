/** Turns nested documents of rows into columns with dotted names, as in queries. */
import type { Row } from './pipeline.ts';

/** Columns of all rows, in the order of their first appearance; at most `most`. */
export function columnsOf(rows: readonly Row[], most: number): readonly string[] {
  const columns = new Set<string>();
  for (const row of rows) {
    for (const name of Object.keys(row)) columns.add(name);
    if (columns.size >= most) break;
  }
  return [...columns].slice(0, most);
}

export function flatten(row: Row, prefix = ''): Row {
  const flat: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    const path = `${prefix}${name}`;
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0)
      Object.assign(flat, flatten(value as Row, `${path}.`));
    else flat[path] = value;
  }
  return flat;
}

export function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(8)));
  return typeof value === 'string' ? value : JSON.stringify(value);
}
