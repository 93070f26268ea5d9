import { type RowValue, Scalar } from './read-row.ts';

/** Relaxed Extended JSON on one line, fields in their order. */
export function relaxedJson(value: RowValue): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Scalar) return value.json;
  if (value instanceof Map) {
    const fields = value as ReadonlyMap<string, RowValue>;
    return `{${Array.from(fields, ([name, field]) => `${JSON.stringify(name)}:${relaxedJson(field)}`).join(',')}}`;
  }
  return `[${(value as readonly RowValue[]).map(relaxedJson).join(',')}]`;
}
