/**
 * The bytes of a reading with the entries of every document in one order. Public senders encode a document's map in random
 * order and anew for each retry, so a hash of the bytes as they came would not recognise the retry (D13).
 */
import { maxStructLevels } from '../wire/max-struct-levels.ts';
import { WireReader } from '../wire/wire-reader.ts';

/** SensorData in; the same content in bytes that do not depend on the order of its documents out. Other bytes pass as they are. */
export function canonicalReading(reading: Uint8Array): Uint8Array {
  // Entries change places but not their bytes, so all of it happens inside one copy.
  const bytes = new Uint8Array(reading);
  const fields = new WireReader(bytes, 0, bytes.length);
  while (fields.next()) {
    if (fields.number === 2 && fields.type === 2) sortStruct(bytes, fields.contentStart, fields.contentEnd, 0);
  }
  return bytes;
}

// Struct { map<string, Value> fields = 1 }: entries { 1: key, 2: Value }.
function sortStruct(bytes: Uint8Array, start: number, end: number, depth: number): void {
  if (depth > maxStructLevels) return;
  const entries: { start: number; end: number }[] = [];
  const fields = new WireReader(bytes, start, end);
  let inOrder = true;
  while (fields.next()) {
    if (fields.number === 1 && fields.type === 2) {
      const entry = new WireReader(bytes, fields.contentStart, fields.contentEnd);
      while (entry.next()) {
        if (entry.number === 2 && entry.type === 2) sortValue(bytes, entry.contentStart, entry.contentEnd, depth);
      }
    }
    const found = { start: fields.fieldStart, end: fields.contentEnd };
    const previous = entries.at(-1);
    if (previous && compare(bytes, previous, found) > 0) inOrder = false;
    entries.push(found);
  }
  if (inOrder || fields.broken) return;
  const before = bytes.slice(start, end);
  entries.sort((one, other) => compare(before, one, other, start));
  let at = start;
  for (const entry of entries) {
    bytes.set(before.subarray(entry.start - start, entry.end - start), at);
    at += entry.end - entry.start;
  }
}

// Value: 5 is a Struct, 6 a ListValue { repeated Value values = 1 }; all else has no order to lose.
function sortValue(bytes: Uint8Array, start: number, end: number, depth: number): void {
  const tag = bytes[start];
  if ((tag !== 0x2a && tag !== 0x32) || depth > maxStructLevels) return;
  const fields = new WireReader(bytes, start, end);
  while (fields.next()) {
    if (fields.type !== 2) continue;
    if (fields.number === 5) sortStruct(bytes, fields.contentStart, fields.contentEnd, depth + 1);
    if (fields.number !== 6) continue;
    const values = new WireReader(bytes, fields.contentStart, fields.contentEnd);
    while (values.next()) {
      if (values.number === 1 && values.type === 2) sortValue(bytes, values.contentStart, values.contentEnd, depth + 1);
    }
  }
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** In bytes whose first one stands at `origin`. */
function compare(bytes: Uint8Array, one: Span, other: Span, origin = 0): number {
  const length = Math.min(one.end - one.start, other.end - other.start);
  const first = one.start - origin;
  const second = other.start - origin;
  for (let index = 0; index < length; index++) {
    const difference = (bytes[first + index] as number) - (bytes[second + index] as number);
    if (difference !== 0) return difference;
  }
  return one.end - one.start - (other.end - other.start);
}
