/**
 * The bytes of a reading with the entries of every document in one order. Public senders encode a document's map in random
 * order and anew for each retry, so a hash of the bytes as they came would not recognise the retry (D13).
 */
import { maxStructLevels } from '../wire/max-struct-levels.ts';
import { bytesField, WireReader } from '../wire/wire-reader.ts';

/** SensorData in; the same content in bytes that do not depend on the order of its documents out. Other bytes pass as they are. */
export function canonicalReading(reading: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(reading);
  sortDocuments(bytes, 0, bytes.length);
  return bytes;
}

/** Makes the SensorData in bytes[start..end) canonical where it stands: entries change places, but not their bytes. */
export function sortDocuments(bytes: Uint8Array, start: number, end: number): void {
  const fields = new WireReader(bytes, start, end);
  while (fields.next()) {
    if (fields.number === 2 && fields.type === 2) sortStruct(bytes, fields.contentStart, fields.contentEnd, 0);
  }
}

// Struct { map<string, Value> fields = 1 }: entries { 1: key, 2: Value }.
const entryField = /* @__PURE__ */ bytesField(1);
const valueField = /* @__PURE__ */ bytesField(2);

function sortStruct(bytes: Uint8Array, start: number, end: number, depth: number): void {
  if (depth > maxStructLevels) return;
  const fields = new WireReader(bytes, start, end);
  let previousStart = start;
  let previousEnd = start;
  let inOrder = true;
  while (fields.next()) {
    const { fieldStart, contentEnd, tag } = fields;
    if (tag === entryField) {
      const outerEnd = fields.enter();
      while (fields.next()) {
        if (fields.tag === valueField) sortValue(bytes, fields.contentStart, fields.contentEnd, depth);
      }
      fields.leave(outerEnd);
    }
    inOrder &&= compare(bytes, previousStart, previousEnd, fieldStart, contentEnd) <= 0;
    previousStart = fieldStart;
    previousEnd = contentEnd;
  }
  if (!inOrder && !fields.broken) sortFields(bytes, start, end);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** All of bytes[start..end) are whole fields. */
function sortFields(bytes: Uint8Array, start: number, end: number): void {
  const before = bytes.slice(start, end);
  const spans: Span[] = [];
  const fields = new WireReader(before, 0, before.length);
  while (fields.next()) spans.push({ start: fields.fieldStart, end: fields.contentEnd });
  spans.sort((one, other) => compare(before, one.start, one.end, other.start, other.end));
  let at = start;
  for (const span of spans) for (let from = span.start; from < span.end; from++) bytes[at++] = before[from] as number;
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

function compare(bytes: Uint8Array, first: number, firstEnd: number, second: number, secondEnd: number): number {
  const length = Math.min(firstEnd - first, secondEnd - second);
  for (let index = 0; index < length; index++) {
    const difference = (bytes[first + index] as number) - (bytes[second + index] as number);
    if (difference !== 0) return difference;
  }
  return firstEnd - first - (secondEnd - second);
}
