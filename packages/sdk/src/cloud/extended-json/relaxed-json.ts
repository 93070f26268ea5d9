import { type RowValue, Scalar } from './read-row.ts';

/** Relaxed Extended JSON on one line, with the fields in order. */
export function relaxedJson(value: RowValue): string {
  return jsonOf(value, 'json');
}

/** Like `relaxedJson`, but marks small longs, so that parseStages reads back the same types. */
export function typedJson(value: RowValue): string {
  return jsonOf(value, 'typed');
}

function jsonOf(value: RowValue, as: 'json' | 'typed'): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Scalar) return value[as];
  if (value instanceof Map) {
    const fields = value as ReadonlyMap<string, RowValue>;
    return `{${Array.from(fields, ([name, field]) => `${JSON.stringify(name)}:${jsonOf(field, as)}`).join(',')}}`;
  }
  return `[${(value as readonly RowValue[]).map((item) => jsonOf(item, as)).join(',')}]`;
}
