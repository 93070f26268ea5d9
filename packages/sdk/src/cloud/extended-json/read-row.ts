/** Reads rows of an answer as lossless trees, which keep every type, all digits of long numbers, and the order of fields. */
import { type Document, deserialize, EJSON, NumberUtils, onDemand } from 'bson';

/** A value that is not a string, list or document. */
export class Scalar {
  /** Relaxed Extended JSON; doubles keep their point (3.0), longs all their digits. */
  readonly json: string;
  /** For people: 3, 2026-01-31T12:00:00.000Z, the digits of an ObjectId. */
  readonly text: string;
  readonly isNumber: boolean;
  /** Extended JSON that reads back as the same type. */
  readonly typed: string;
  constructor(json: string, text: string = json, isNumber = false, typed: string = json) {
    this.json = json;
    this.text = text;
    this.isNumber = isNumber;
    this.typed = typed;
  }
}

export type RowValue = string | Scalar | readonly RowValue[] | RowFields;
export type RowFields = ReadonlyMap<string, RowValue>;

const { getFloat64LE, getInt32LE, getBigInt64LE } = NumberUtils;
const utf8 = new TextDecoder();

/** @param bson one document. @throws Error if it is damaged */
export function readRow(bson: Uint8Array): RowFields {
  return new Map(elements(bson, 0));
}

function* elements(bytes: Uint8Array, start: number): Generator<[string, RowValue]> {
  for (const element of onDemand.parseToElements(bytes, start)) {
    const [, nameAt, nameBytes] = element;
    yield [utf8.decode(bytes.subarray(nameAt, nameAt + nameBytes)), decoded(bytes, element)];
  }
}

type Element = readonly [type: number, nameAt: number, nameBytes: number, at: number, bytes: number];

function decoded(bytes: Uint8Array, [type, , , at, size]: Element): RowValue {
  switch (type) {
    case 1:
      return double(getFloat64LE(bytes, at));
    case 2:
      return utf8.decode(bytes.subarray(at + 4, at + size - 1));
    case 3:
      return new Map(elements(bytes, at));
    case 4:
      return Array.from(elements(bytes, at), ([, item]) => item);
    case 6:
      return missing;
    case 8:
      return bytes[at] === 1 ? yes : no;
    case 9:
      return time(getBigInt64LE(bytes, at));
    case 10:
      return nothing;
    case 16:
      return number(String(getInt32LE(bytes, at)));
    case 18:
      return long(getBigInt64LE(bytes, at));
    default:
      return rare(type, bytes.subarray(at, at + size));
  }
}

const yes = new Scalar('true');
const no = new Scalar('false');
const nothing = new Scalar('null');
const missing = new Scalar('{"$undefined":true}', 'undefined');
const number = (json: string, text?: string): Scalar => new Scalar(json, text, true);

/** A small long would otherwise be read back as an int32. */
function long(value: bigint): Scalar {
  const text = String(value);
  return new Scalar(text, text, true, value === BigInt.asIntN(32, value) ? `{"$numberLong":"${text}"}` : text);
}

function double(value: number): Scalar {
  if (!Number.isFinite(value)) return number(`{"$numberDouble":"${value}"}`, String(value));
  if (Object.is(value, -0)) return number('-0.0', '-0');
  const text = String(value);
  return number(/[.e]/.test(text) ? text : `${text}.0`, text);
}

/** Extended JSON writes times of the years 1970 to 9999 as text, others as milliseconds. */
function time(ms: bigint): Scalar {
  const date = new Date(Number(ms));
  if (!Number.isFinite(date.getTime())) return new Scalar(`{"$date":{"$numberLong":"${ms}"}}`, `${ms} ms`);
  const text = date.toISOString();
  const isRelaxed = ms >= 0n && date.getUTCFullYear() <= 9999;
  return new Scalar(isRelaxed ? `{"$date":"${text}"}` : `{"$date":{"$numberLong":"${ms}"}}`, text);
}

/** Lets npm's `bson` read the value, from a document that contains only it. */
function rare(type: number, value: Uint8Array): Scalar {
  const size = 4 + 3 + value.length + 1;
  const document = new Uint8Array(size);
  new DataView(document.buffer).setInt32(0, size, true);
  document.set([type, 0x76, 0], 4);
  document.set(value, 7);
  const read: Document = deserialize(document, { promoteValues: false, bsonRegExp: true });
  const json = EJSON.stringify(read['v'], { relaxed: true });
  const inner: unknown = JSON.parse(json);
  const [first, ...others] = typeof inner === 'object' && inner !== null ? Object.values(inner) : [];
  return typeof first === 'string' && others.length === 0 ? new Scalar(json, first, type === 19) : new Scalar(json);
}
