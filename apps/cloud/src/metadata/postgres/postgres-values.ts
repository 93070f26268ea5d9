/** Converts values to and from Postgres, so that both stores behave alike: numbers, text, bytes and null. */
import { dataLoss, PlatformError } from '@platform/base';
import type { CustomTypesConfig } from 'pg';

// https://www.postgresql.org/docs/current/catalog-pg-type.html
const readers: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => (text === 't' ? 1 : 0), // bool
  17: bytes, // bytea
  20: whole, // int8
  21: Number,
  23: Number,
  26: Number,
  700: Number,
  701: Number,
  1700: Number, // numeric: sums of int8
};

export const postgresTypes: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: string) => {
    if (format === 'binary') return (value: unknown) => value;
    return readers[oid] ?? ((text: string) => text);
  }) as CustomTypesConfig['getTypeParser'],
};

function whole(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw dataLoss(`expected a whole number below 2^53 in the database, found ${text}`);
}

function bytes(text: string): Uint8Array {
  const read = Buffer.from(text.slice(2), 'hex');
  return new Uint8Array(read.buffer, read.byteOffset, read.length);
}

/** The parameter value passed to Postgres. Its text cannot contain NUL, unlike SQLite's: a replacement character is stored instead. */
export function postgresValue(value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length);
  throw new PlatformError('internal', `a parameter must be a number, text, bytes or null, found ${typeof value}`);
}
