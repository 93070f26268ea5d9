/** Texts of Extended JSON that represent values: `'{"$oid": "…"}'` where an ObjectId is expected. */

import { parseDecimal } from '../../bson/decimal.ts';
import type { TypeName } from '../../bson/type.ts';
import {
  Binary,
  BsonDate,
  BsonDocument,
  BsonSymbol,
  BsonUndefined,
  type BsonValue,
  Code,
  DbPointer,
  Int32,
  MaxKey,
  MinKey,
  ObjectId,
  Regex,
  Timestamp,
} from '../../bson/value.ts';
import { parseDate } from '../../functions/dates/date-text.ts';
import { literal } from '../../plan/expr.ts';
import type { Typed } from '../planner/scope.ts';
import { kindOfValue } from './kind.ts';

/** The value of a literal text, if it represents one and its types are accepted. */
export function literalOf(value: Typed, accepts: (types: ReadonlySet<TypeName>) => boolean): Typed | undefined {
  const { expr } = value;
  if (expr.k !== 'lit' || typeof expr.value !== 'string') return undefined;
  const meant = parseExtendedJson(expr.value);
  if (meant === undefined) return undefined;
  const kind = kindOfValue(meant);
  return kind.types !== undefined && accepts(kind.types) ? { expr: literal(meant), kind } : undefined;
}

/** The value, or undefined if the text is not JSON or does not match its keys. */
export function parseExtendedJson(text: string): BsonValue | undefined {
  try {
    return valueIn(JSON.parse(text));
  } catch (caught) {
    if (caught instanceof SyntaxError || caught instanceof NotExtendedJson) return undefined;
    throw caught;
  }
}

class NotExtendedJson extends Error {}

function valueIn(json: unknown): BsonValue {
  if (json === null || typeof json === 'string' || typeof json === 'boolean') return json;
  if (typeof json === 'number') {
    if (!Number.isInteger(json)) return json;
    return json === (json | 0) ? new Int32(json) : Number.isSafeInteger(json) ? BigInt(json) : json;
  }
  if (Array.isArray(json)) return json.map(valueIn);
  const object: Readonly<Record<string, unknown>> = { ...(json as object) };
  const keys = Object.keys(object);
  const reader = keys[0] === undefined ? undefined : readers[keys.toSorted().join(' ')];
  if (reader !== undefined) return reader(object);
  return new BsonDocument(keys.map((key): [string, BsonValue] => [key, valueIn(object[key])]));
}

type Json = Readonly<Record<string, unknown>>;

const readers: Readonly<Record<string, (json: Json) => BsonValue>> = {
  $oid: (json) => new ObjectId(hexBytes(text(json['$oid']), 12)),
  $symbol: (json) => new BsonSymbol(text(json['$symbol'])),
  $numberInt: (json) => new Int32(Number(matching(text(json['$numberInt']), /^-?\d{1,10}$/))),
  $numberLong: (json) => BigInt(matching(text(json['$numberLong']), /^-?\d{1,19}$/)),
  $numberDouble: (json) => Number(matching(text(json['$numberDouble']), /^(-?Infinity|NaN|[-+]?[\d.]+(e[-+]?\d+)?)$/i)),
  $numberDecimal: (json) => parseDecimal(text(json['$numberDecimal'])) ?? refuse(),
  $binary: (json) => {
    const { base64, subType } = record(json['$binary']);
    return new Binary(base64Bytes(text(base64)), Number.parseInt(matching(text(subType), /^[\da-f]{1,2}$/i), 16));
  },
  $uuid: (json) => new Binary(hexBytes(text(json['$uuid']).replaceAll('-', ''), 16), 4),
  $code: (json) => new Code(text(json['$code'])),
  '$code $scope': (json) => {
    const scope = valueIn(record(json['$scope']));
    return new Code(text(json['$code']), scope instanceof BsonDocument ? scope : refuse());
  },
  $timestamp: (json) => {
    const { t, i } = record(json['$timestamp']);
    return new Timestamp((BigInt(whole(t)) << 32n) | BigInt(whole(i)));
  },
  $regularExpression: (json) => {
    const { pattern, options } = record(json['$regularExpression']);
    return new Regex(text(pattern), text(options));
  },
  $dbPointer: (json) => {
    const pointer = record(json['$dbPointer']);
    const id = valueIn(pointer['$id']);
    return new DbPointer(text(pointer['$ref']), id instanceof ObjectId ? id : refuse());
  },
  $date: (json) => {
    const date = json['$date'];
    if (typeof date === 'string') return new BsonDate(parseDate(date) ?? refuse());
    const ms = valueIn(date);
    return new BsonDate(typeof ms === 'bigint' ? Number(ms) : ms instanceof Int32 ? ms.value : refuse());
  },
  $minKey: () => new MinKey(),
  $maxKey: () => new MaxKey(),
  $undefined: () => new BsonUndefined(),
};

function refuse(): never {
  throw new NotExtendedJson();
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : refuse();
}

function whole(value: unknown): number {
  return typeof value === 'number' && value === value >>> 0 ? value : refuse();
}

function record(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : refuse();
}

function matching(value: string, pattern: RegExp): string {
  return pattern.test(value) ? value : refuse();
}

function hexBytes(hex: string, length: number): Uint8Array {
  if (hex.length !== 2 * length || !/^[\da-f]*$/i.test(hex)) return refuse();
  return Uint8Array.from({ length }, (_, index) => Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16));
}

function base64Bytes(base64: string): Uint8Array {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const digits = Array.from(matching(base64, /^[\w+/-]*={0,2}$/).replace(/=+$/, ''), (char) => alphabet.indexOf(char));
  const bytes: number[] = [];
  for (let at = 0; at + 1 < digits.length; at += 4) {
    const [a = 0, b = 0, c, d] = digits.slice(at, at + 4);
    bytes.push((a << 2) | (b >> 4));
    if (c !== undefined) bytes.push(((b & 15) << 4) | (c >> 2));
    if (c !== undefined && d !== undefined) bytes.push(((c & 3) << 6) | d);
  }
  return Uint8Array.from(bytes);
}
