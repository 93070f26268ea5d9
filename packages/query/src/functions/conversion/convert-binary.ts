/** Converts binary values from and to numbers and texts. */

import { Binary, hexOf, Int32, type Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { failure } from './convert-failure.ts';

/** How a text represents bytes; `auto` is uuid for subtype 4 and base64 for all others. */
export type Format = 'auto' | 'base64' | 'base64url' | 'hex' | 'utf8' | 'uuid';

const uuidSubtype = 4;

/** `undefined` means that the required format is not given. */
function formatFor(format: Format | undefined, subtype: number): Format {
  if (format === undefined) {
    throw new QueryError(4341115, "a conversion between text and binData needs a 'format'");
  }
  return format === 'auto' ? (subtype === uuidSubtype ? 'uuid' : 'base64') : format;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function binaryToText(value: Binary, given: Format | undefined): string {
  const { bytes, subtype } = value;
  switch (formatFor(given, subtype)) {
    case 'hex':
      return hexOf(bytes).toUpperCase();
    case 'base64url':
      return Buffer.from(bytes).toString('base64url');
    case 'utf8':
      try {
        return utf8.decode(bytes);
      } catch (error) {
        if (error instanceof TypeError) throw failure(value, 'string', 'the bytes are not UTF-8');
        throw error;
      }
    case 'uuid':
      if (subtype !== uuidSubtype || bytes.length !== 16) throw failure(value, 'string', 'it is not a UUID');
      return hexOf(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    default:
      return Buffer.from(bytes).toString('base64');
  }
}

export function textToBinary(text: string, subtype: number, given: Format | undefined): Binary {
  const format = formatFor(given, subtype);
  const fail = (): QueryError => failure(text, 'binData', `expected ${format}`);
  if (format === 'utf8') return new Binary(new TextEncoder().encode(text), subtype);
  if (format === 'uuid') {
    const groups = /^([\da-f]{8})-([\da-f]{4})-([\da-f]{4})-([\da-f]{4})-([\da-f]{12})$/i.exec(text);
    if (groups === null || subtype !== uuidSubtype) throw fail();
    return new Binary(fromHex(groups.slice(1).join('')), subtype);
  }
  if (format === 'hex') {
    if (text.length % 2 !== 0 || !/^[\da-f]*$/i.test(text)) throw fail();
    return new Binary(fromHex(text), subtype);
  }
  const bytes = fromBase64(text, format === 'base64url');
  if (bytes === undefined) throw fail();
  return new Binary(bytes, subtype);
}

/** In two's complement, or IEEE 754 for doubles. */
export function numberToBinary(value: Int32 | bigint | number, subtype: number, littleEndian: boolean): Binary {
  const bytes = new Uint8Array(value instanceof Int32 ? 4 : 8);
  const view = new DataView(bytes.buffer);
  if (value instanceof Int32) view.setInt32(0, value.value, littleEndian);
  else if (typeof value === 'bigint') view.setBigInt64(0, value, littleEndian);
  else view.setFloat64(0, value, littleEndian);
  return new Binary(bytes, subtype);
}

/** From 1, 2, 4 or 8 bytes, but no more than `mostBytes`. */
export function binaryToWhole(value: Binary, to: string, mostBytes: number, littleEndian: boolean): bigint {
  const { bytes } = value;
  if (![1, 2, 4, 8].includes(bytes.length) || bytes.length > mostBytes)
    throw failure(value, to, 'it has another length');
  let whole = 0n;
  for (const byte of littleEndian ? bytes.toReversed() : bytes) whole = (whole << 8n) | BigInt(byte);
  return BigInt.asIntN(bytes.length * 8, whole);
}

/** From 4 or 8 bytes. */
export function binaryToDouble(value: Binary, littleEndian: boolean): number {
  const view = new DataView(value.bytes.buffer, value.bytes.byteOffset, value.bytes.length);
  if (view.byteLength === 4) return view.getFloat32(0, littleEndian);
  if (view.byteLength === 8) return view.getFloat64(0, littleEndian);
  throw failure(value, 'double', 'it has another length');
}

export function sameBinary(value: Maybe, subtype: number): Binary {
  if (value instanceof Binary && value.subtype === subtype) return value;
  throw failure(value, 'binData', value instanceof Binary ? 'it has another subtype' : '');
}

export function fromHex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'hex'));
}

/** The plain form is padded; in the URL-safe form padding is optional. */
function fromBase64(text: string, forAddresses: boolean): Uint8Array | undefined {
  const plain = forAddresses ? text.replaceAll('-', '+').replaceAll('_', '/') : text;
  if (forAddresses && /[+/]/.test(text)) return undefined;
  const padded = forAddresses
    ? plain.replace(/=+$/, '').padEnd(Math.ceil(plain.replace(/=+$/, '').length / 4) * 4, '=')
    : plain;
  if (padded.length % 4 !== 0 || !/^[A-Za-z\d+/]*={0,2}$/.test(padded) || padded.endsWith('===')) return undefined;
  return Uint8Array.from(atob(padded), (char) => char.charCodeAt(0));
}
