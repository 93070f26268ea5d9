import { type RowFields, type RowValue, relaxedJson, Scalar } from '@platform/sdk/cloud';

/** A row by paths such as `data.readings.temp`; arrays, and documents without fields, are JSON. */
export function flatten(row: RowFields): Map<string, string | Scalar> {
  const cells = new Map<string, string | Scalar>();
  const walk = (value: RowValue, path: string): void => {
    if (typeof value === 'string' || value instanceof Scalar) return void cells.set(path, value);
    if (!(value instanceof Map) || value.size === 0) return void cells.set(path, new Scalar(relaxedJson(value)));
    for (const [name, field] of value as RowFields) walk(field, path === '' ? name : `${path}.${name}`);
  };
  for (const [name, value] of row) walk(value, name);
  return cells;
}
