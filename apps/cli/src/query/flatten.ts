import { type RowFields, type RowValue, relaxedJson, Scalar } from '@platform/sdk/cloud';

/**
 * A row as paths such as `data.readings.temp`; arrays and empty documents are JSON. A name that looks like a path is in brackets:
 * `data["a.b"]`.
 */
export function flatten(row: RowFields): Map<string, string | Scalar> {
  const cells = new Map<string, string | Scalar>();
  const walk = (value: RowValue, path: string): void => {
    if (typeof value === 'string' || value instanceof Scalar) return void cells.set(path, value);
    if (!(value instanceof Map) || value.size === 0) return void cells.set(path, new Scalar(relaxedJson(value)));
    for (const [name, field] of value as RowFields)
      walk(field, isPlain(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`);
  };
  for (const [name, value] of row) walk(value, isPlain(name) ? name : `[${JSON.stringify(name)}]`);
  return cells;
}

function isPlain(name: string): boolean {
  return name !== '' && !/[.[]/.test(name);
}
