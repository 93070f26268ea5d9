import { type JsonValue, type RowFields, type RowValue, Scalar } from '@platform/sdk/cloud';
import { jsonText } from './exported-line.ts';

/** Parses a line of an export into a query row, so that it is flattened and written in the same way. */
export function parseRow(line: string): RowFields {
  return rowValue(JSON.parse(line) as JsonValue) as RowFields;
}

function rowValue(value: JsonValue): RowValue {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null)
    return new Scalar(jsonText(value), jsonText(value), typeof value === 'number');
  if (Array.isArray(value)) return value.map(rowValue);
  return new Map(Object.entries(value).map(([name, field]) => [name, rowValue(field)]));
}
