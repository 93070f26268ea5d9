/**
 * Converts BSON values of the query package to canonical Extended JSON v2. Two values have the same text exactly if they have the same
 * type, value and field order (NaN equals itself, -0 is not 0), so the runner compares texts.
 */

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
  decimalText,
  Int32,
  MaxKey,
  MinKey,
  ObjectId,
  Regex,
  Timestamp,
} from '@platform/query';
import { oldBinary } from './decode.ts';

export function encodeExtended(value: BsonValue): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return wrap('$numberDouble', doubleText(value));
  if (typeof value === 'bigint') return wrap('$numberLong', String(value));
  if (value instanceof Int32) return wrap('$numberInt', String(value.value));
  if (Array.isArray(value)) return `[${value.map(encodeExtended).join(',')}]`;
  if (value instanceof BsonDocument) return encodeFields(value);
  return encodeRare(value);
}

function encodeFields(document: BsonDocument): string {
  return `{${Array.from(document, ([name, value]) => `${JSON.stringify(name)}:${encodeExtended(value)}`).join(',')}}`;
}

function encodeRare(value: BsonValue): string {
  if (value instanceof Decimal128) return wrap('$numberDecimal', decimalText(value));
  if (value instanceof BsonDate) return `{"$date":${wrap('$numberLong', String(value.ms))}}`;
  if (value instanceof ObjectId) return wrap('$oid', value.toHex());
  if (value instanceof Binary) {
    const subType = value.subtype.toString(16).padStart(2, '0');
    const bytes = value.subtype === oldBinary ? value.bytes.subarray(4) : value.bytes;
    return nested('$binary', { base64: Buffer.from(bytes).toString('base64'), subType });
  }
  if (value instanceof Regex) {
    return nested('$regularExpression', { pattern: value.pattern, options: value.options });
  }
  if (value instanceof Timestamp) {
    const bits = BigInt.asUintN(64, value.value);
    return nested('$timestamp', { t: Number(bits >> 32n), i: Number(bits & 0xffff_ffffn) });
  }
  if (value instanceof BsonSymbol) return wrap('$symbol', value.value);
  if (value instanceof Code) {
    const scope = value.scope === undefined ? '' : `,"$scope":${encodeFields(value.scope)}`;
    return `{"$code":${JSON.stringify(value.code)}${scope}}`;
  }
  if (value instanceof DbPointer) {
    return `{"$dbPointer":{"$ref":${JSON.stringify(value.namespace)},"$id":${encodeExtended(value.id)}}}`;
  }
  if (value instanceof MinKey) return '{"$minKey":1}';
  if (value instanceof MaxKey) return '{"$maxKey":1}';
  if (value instanceof BsonUndefined) return '{"$undefined":true}';
  throw new TypeError(`not a BSON value: ${String(value)}`);
}

function wrap(name: string, text: string): string {
  return `{"${name}":${JSON.stringify(text)}}`;
}

function nested(name: string, content: object): string {
  return `{"${name}":${JSON.stringify(content)}}`;
}

function doubleText(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  return Number.isInteger(value) && Math.abs(value) < 1e21 ? value.toFixed(1) : String(value);
}
