/** Formats queries and answers for people, with the type of every value. */
import { BsonDate, BsonDocument, Int32 } from '@platform/query';
import type { RandomQuery } from './random-query.ts';

export function showQuery(query: RandomQuery): string {
  return query.language === 'sql' ? query.statement : `[${query.pipeline.map(show).join(', ')}]`;
}

export function show(value: unknown): string {
  if (value instanceof BsonDocument)
    return `{${[...value].map(([name, each]) => `${JSON.stringify(name)}: ${show(each)}`).join(', ')}}`;
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`;
  if (value instanceof Int32) return `Int32(${value.value})`;
  if (value instanceof BsonDate) return `Date(${value.ms})`;
  if (typeof value === 'number')
    return Object.is(value, -0) ? '-0.0' : Number.isInteger(value) ? `${value}.0` : String(value);
  if (typeof value === 'bigint') return `Int64(${value})`;
  if (typeof value === 'object' && value !== null && 'bytes' in value)
    return `${value.constructor.name}(${Buffer.from(value.bytes as Uint8Array).toString('hex')})`;
  return JSON.stringify(value) ?? String(value);
}
