/** How values appear in error messages: short, and with their type. */

import { typeName } from './type.ts';
import { BsonDate, BsonDocument, Int32, type Maybe } from './value.ts';

export function describe(value: Maybe): string {
  if (typeof value === 'string') return value.length > 80 ? `'${value.slice(0, 80)}…'` : `'${value}'`;
  if (value === undefined) return 'nothing';
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number' || typeof value === 'bigint') return `${value} (${typeName(value)})`;
  if (value instanceof Int32) return String(value.value);
  if (value instanceof BsonDate) return `date ${value.ms}`;
  if (value instanceof BsonDocument)
    return `an object with the fields ${[...value.keys()].slice(0, 5).join(', ') || '(none)'}`;
  return Array.isArray(value) ? `an array of ${value.length}` : typeName(value);
}
