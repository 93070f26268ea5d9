/**
 * The bytes of a reading with the entries of every document in a fixed order. Public senders encode a document's map in random order,
 * different for each retry, so a hash of the original bytes would not recognise the retry (D13).
 */
import { maxReadingLevels } from '@platform/base';
import { SensorDataView } from '../../reading-codec/sensor-data-view.ts';
import { type StructSink, walkStruct } from '../../reading-codec/walk-struct.ts';
import { WireReader } from '../../reading-codec/wire-reader.ts';

/**
 * Returns a SensorData with the same content, in bytes that do not depend on the order of its documents. Other bytes are returned
 * unchanged.
 */
export function canonicalReading(reading: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(reading);
  sortDocuments(bytes, 0, bytes.length);
  return bytes;
}

const view = /* @__PURE__ */ new SensorDataView();

/** Makes the SensorData in bytes[start..end) canonical in place: entries are reordered, but their bytes do not change. */
export function sortDocuments(bytes: Uint8Array, start: number, end: number): void {
  view.read(bytes, start, end);
  if (view.kind === 'struct') walkStruct(bytes, view.contentStart, view.contentEnd, sortsEntries, maxReadingLevels);
}

const fields = /* @__PURE__ */ new WireReader(new Uint8Array(), 0, 0);

/** Sorts the entries of each document after sorting those of its nested documents. */
const sortsEntries: StructSink = {
  endDocument(bytes, start, end) {
    fields.reset(bytes, start, end);
    let previousStart = start;
    let previousEnd = start;
    while (fields.next()) {
      const { fieldStart, contentEnd } = fields;
      if (compare(bytes, previousStart, previousEnd, fieldStart, contentEnd) > 0) {
        sortEntries(bytes, start, end);
        return;
      }
      previousStart = fieldStart;
      previousEnd = contentEnd;
    }
  },
  key: () => true,
  item() {},
  nothing() {},
  number() {},
  boolean() {},
  text() {},
  beginDocument() {},
  beginList() {},
  endList() {},
};

interface Span {
  readonly start: number;
  readonly end: number;
}

function sortEntries(bytes: Uint8Array, start: number, end: number): void {
  const before = bytes.slice(start, end);
  const spans: Span[] = [];
  fields.reset(before, 0, before.length);
  while (fields.next()) spans.push({ start: fields.fieldStart, end: fields.contentEnd });
  spans.sort((one, other) => compare(before, one.start, one.end, other.start, other.end));
  let at = start;
  for (const span of spans) for (let from = span.start; from < span.end; from++) bytes[at++] = before[from] as number;
}

function compare(bytes: Uint8Array, first: number, firstEnd: number, second: number, secondEnd: number): number {
  const length = Math.min(firstEnd - first, secondEnd - second);
  for (let index = 0; index < length; index++) {
    const difference = (bytes[first + index] as number) - (bytes[second + index] as number);
    if (difference !== 0) return difference;
  }
  return firstEnd - first - (secondEnd - second);
}
