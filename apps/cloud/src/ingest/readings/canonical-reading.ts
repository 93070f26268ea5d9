/**
 * The bytes of a reading with the entries of every document in a fixed order. Public senders encode a document's map in random order,
 * different for each retry, so a hash of the original bytes would not recognise the retry (D13).
 */
import { maxReadingLevels, type Steps, type StructSink, WireReader, walkStruct } from '@platform/base';
import { SensorDataView } from '../../reading-codec/sensor-data-view.ts';
import { compare, sortEntries, sortFewEntries } from './sort-entries.ts';

const documentsPerStep = 1_024;
const bytesPerStep = 64 << 10;

/**
 * Returns a SensorData with the same content, in bytes that do not depend on the order of its documents. Other bytes are returned
 * unchanged.
 */
export function* canonicalReading(reading: Uint8Array): Steps<Uint8Array> {
  const bytes = new Uint8Array(reading);
  const documents = documentsIn(bytes, 0, bytes.length);
  let looked = 0;
  for (let index = 0; index < documents.length; index += 2) {
    const [start, end] = [documents[index] as number, documents[index + 1] as number];
    if (!isSorted(bytes, start, end)) yield* sortEntries(bytes, start, end);
    looked += end - start;
    if (looked >= bytesPerStep || index % documentsPerStep === documentsPerStep - 2) {
      looked = 0;
      yield;
    }
  }
  return bytes;
}

/** Makes the short SensorData in bytes[start..end) canonical in place: entries are reordered, but their bytes do not change. */
export function sortDocuments(bytes: Uint8Array, start: number, end: number): void {
  view.read(bytes, start, end);
  if (view.kind === 'struct') walkStruct(bytes, view.contentStart, view.contentEnd, sorting, maxReadingLevels);
}

const view = /* @__PURE__ */ new SensorDataView();

/** Start and end of the entries of each document, nested ones before the ones around them. */
function documentsIn(bytes: Uint8Array, start: number, end: number): readonly number[] {
  const found: number[] = [];
  view.read(bytes, start, end);
  const collecting = {
    ...nothingElse,
    endDocument: (_: Uint8Array, from: number, to: number) => void found.push(from, to),
  };
  if (view.kind === 'struct') walkStruct(bytes, view.contentStart, view.contentEnd, collecting, maxReadingLevels);
  return found;
}

const fields = /* @__PURE__ */ new WireReader(new Uint8Array(), 0, 0);

function isSorted(bytes: Uint8Array, start: number, end: number): boolean {
  fields.reset(bytes, start, end);
  let previousStart = start;
  let previousEnd = start;
  while (fields.next()) {
    const { fieldStart, contentEnd } = fields;
    if (compare(bytes, previousStart, previousEnd, fieldStart, contentEnd) > 0) return false;
    previousStart = fieldStart;
    previousEnd = contentEnd;
  }
  return true;
}

const nothingElse = {
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

/** Sorts the entries of each document after sorting those of its nested documents. */
const sorting: StructSink = {
  ...nothingElse,
  endDocument(bytes, start, end) {
    if (!isSorted(bytes, start, end)) sortFewEntries(bytes, start, end);
  },
};
