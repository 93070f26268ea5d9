/** The values of a reading, one by one: objects are unfolded, and each value knows where it is in the reading. */
import type { Row } from '../query/pipeline.ts';

export interface Value {
  /** With dots, such as heat.upper, for people: a name may contain dots itself. */
  readonly name: string;
  /** Below `data`. */
  readonly path: readonly string[];
  readonly value: unknown;
}

/** @param data of a reading; what it has under `readings`, or else all of it */
export function valuesOf(data: unknown): readonly Value[] {
  if (!isObject(data)) return [];
  const readings = data['readings'];
  return isObject(readings) ? unfold(readings, '', ['readings']) : unfold(data, '', []);
}

function unfold(row: Row, prefix: string, above: readonly string[]): readonly Value[] {
  return Object.entries(row).flatMap(([name, value]) => {
    const path = [...above, name];
    const shown = `${prefix}${name}`;
    if (isObject(value) && Object.keys(value).length > 0) return unfold(value, `${shown}.`, path);
    return [{ name: shown, path, value }];
  });
}

/** The expression that reads the value from a row: a path, or `$getField` for names that a path cannot have. */
export function expressionOf(path: readonly string[]): unknown {
  if (path.every((name) => /^[^.$\0][^.\0]*$/.test(name))) return `$data.${path.join('.')}`;
  return path.reduce<unknown>((input, field) => ({ $getField: { field: { $literal: field }, input } }), '$data');
}

function isObject(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
