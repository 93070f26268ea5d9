/** Converts Extended JSON v2 (canonical, also with relaxed dates and bare numbers) to BSON values of the query package. */

import {
  Binary,
  BsonDate,
  BsonDocument,
  BsonSymbol,
  BsonUndefined,
  type BsonValue,
  Code,
  DbPointer,
  Decimal128,
  Int32,
  MaxKey,
  MinKey,
  ObjectId,
  Regex,
  Timestamp,
} from '@platform/query';
import { Decimal128 as TextDecimal } from 'bson';
import type { Json, JsonObject } from './read-json.ts';

/** @throws Error for a wrapper with invalid content. */
export function decodeExtended(json: Json): BsonValue {
  if (typeof json === 'number') return bareNumber(json);
  if (Array.isArray(json)) return json.map(decodeExtended);
  if (!(json instanceof Map)) return json;
  const [first] = json.keys();
  const wrapper = first?.startsWith('$') ? wrappers[signature(json)] : undefined;
  return wrapper ? wrapper(json) : decodeDocument(json);
}

export function decodeDocument(json: JsonObject): BsonDocument {
  return new BsonDocument([...json].map(([name, value]): [string, BsonValue] => [name, decodeExtended(value)]));
}

/** By all keys of the object: with any other key it is a document (`$regex` with `$options` is an operator). */
const wrappers: Readonly<Record<string, (json: JsonObject) => BsonValue>> = {
  $oid: (json) => new ObjectId(Uint8Array.from(Buffer.from(text(json, '$oid'), 'hex'))),
  $numberInt: (json) => new Int32(Number(text(json, '$numberInt'))),
  $numberLong: (json) => BigInt(text(json, '$numberLong')),
  $numberDouble: (json) => Number(text(json, '$numberDouble')),
  $numberDecimal: (json) => new Decimal128(TextDecimal.fromString(text(json, '$numberDecimal')).bytes),
  $date: (json) => new BsonDate(milliseconds(json.get('$date'))),
  $binary: (json) => {
    const { base64, subType } = Object.fromEntries(inner(json, '$binary'));
    const bytes = Uint8Array.from(Buffer.from(String(base64), 'base64'));
    const subtype = Number.parseInt(String(subType), 16);
    return new Binary(subtype === oldBinary ? withInnerLength(bytes) : bytes, subtype);
  },
  $uuid: (json) => new Binary(Uint8Array.from(Buffer.from(text(json, '$uuid').replaceAll('-', ''), 'hex')), 4),
  $regularExpression: (json) => {
    const { pattern, options } = Object.fromEntries(inner(json, '$regularExpression'));
    return new Regex(String(pattern), String(options));
  },
  $timestamp: (json) => {
    const { t, i } = Object.fromEntries(inner(json, '$timestamp'));
    return new Timestamp((BigInt(Number(t)) << 32n) | BigInt(Number(i)));
  },
  $symbol: (json) => new BsonSymbol(text(json, '$symbol')),
  $code: (json) => new Code(text(json, '$code')),
  '$code,$scope': (json) => new Code(text(json, '$code'), decodeDocument(inner(json, '$scope'))),
  $minKey: () => new MinKey(),
  $maxKey: () => new MaxKey(),
  $undefined: () => new BsonUndefined(),
  $dbPointer: (json) => {
    const pointer = inner(json, '$dbPointer');
    const id = decodeExtended(pointer.get('$id') ?? null);
    if (!(id instanceof ObjectId)) throw new Error('$dbPointer needs an ObjectId in $id');
    return new DbPointer(text(pointer, '$ref'), id);
  },
};

/** On the wire this subtype repeats its length before the bytes; Extended JSON omits that. */
export const oldBinary = 2;

function withInnerLength(bytes: Uint8Array): Uint8Array {
  const held = new Uint8Array(4 + bytes.length);
  new DataView(held.buffer).setInt32(0, bytes.length, true);
  held.set(bytes, 4);
  return held;
}

function signature(json: JsonObject): string {
  return json.size === 1 ? [...json.keys()][0]! : [...json.keys()].sort().join(',');
}

function bareNumber(value: number): BsonValue {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 31 && !Object.is(value, -0) ? new Int32(value) : value;
}

function milliseconds(json: Json | undefined): number {
  const ms = json instanceof Map ? Number(text(json, '$numberLong')) : Date.parse(String(json));
  if (!Number.isInteger(ms)) throw new Error(`$date is not a time: ${String(json)}`);
  return ms;
}

function text(json: JsonObject, name: string): string {
  const value = json.get(name);
  if (typeof value !== 'string') throw new Error(`${name} needs a string`);
  return value;
}

function inner(json: JsonObject, name: string): JsonObject {
  const value = json.get(name);
  if (!(value instanceof Map)) throw new Error(`${name} needs an object`);
  return value;
}
