/**
 * Decodes single readings (SensorData), times apart from documents. By hand, because a trigger with a condition reads
 * every reading of its component, and building messages to turn them into JSON costs a multiple.
 */
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { PlatformError } from '@platform/base';

export interface ReadingTimes {
  /** Wall clock of the machine, ms; null: not sent. */
  readonly requestedAtMs: number | null;
  readonly receivedAtMs: number | null;
}

export type Document = Record<string, unknown>;

const maxDepth = 100;

export function readTimes(reading: Uint8Array): ReadingTimes {
  let requestedAtMs: number | null = null;
  let receivedAtMs: number | null = null;
  eachField(new BinaryReader(reading), reading.length, (reader, field, end) => {
    if (field !== 1) return false;
    eachField(reader, end, (_reader, inner, innerEnd) => {
      if (inner === 1) requestedAtMs = readTimestamp(reader, innerEnd);
      else if (inner === 2) receivedAtMs = readTimestamp(reader, innerEnd);
      else return false;
      return true;
    });
    return true;
  });
  return { requestedAtMs, receivedAtMs };
}

/** The reading's document as plain values; undefined for binary readings. */
export function readDocument(reading: Uint8Array): Document | undefined {
  let document: Document | undefined;
  eachField(new BinaryReader(reading), reading.length, (reader, field, end) => {
    if (field === 3) document = undefined;
    if (field !== 2) return false;
    document = readStruct(reader, end, 0);
    return true;
  });
  return document;
}

/** Calls `take` at each length-delimited field with its end; what it leaves, and all other fields, are skipped. */
function eachField(
  reader: BinaryReader,
  end: number,
  take: (reader: BinaryReader, field: number, end: number) => boolean,
): void {
  while (reader.pos < end) {
    const [field, wireType] = reader.tag();
    if (wireType !== 2) {
      reader.skip(wireType, field);
      continue;
    }
    const fieldEnd = lengthEnd(reader, end);
    if (!take(reader, field, fieldEnd)) reader.pos = fieldEnd;
  }
}

function lengthEnd(reader: BinaryReader, limit: number): number {
  const end = reader.uint32() + reader.pos;
  if (end > limit)
    throw new PlatformError('data_loss', `expected a field that ends by byte ${limit}, found one to ${end}`);
  return end;
}

function readTimestamp(reader: BinaryReader, end: number): number {
  let seconds = 0;
  let nanos = 0;
  while (reader.pos < end) {
    const [field, wireType] = reader.tag();
    if (field === 1) seconds = Number(reader.int64());
    else if (field === 2) nanos = reader.int32();
    else reader.skip(wireType, field);
  }
  return seconds * 1_000 + Math.floor(nanos / 1_000_000);
}

function readStruct(reader: BinaryReader, end: number, depth: number): Document {
  if (depth > maxDepth)
    throw new PlatformError('data_loss', `expected at most ${maxDepth} levels in a reading, found more`);
  // Without prototype: a key named __proto__ is a key like any other.
  const document: Document = Object.create(null);
  while (reader.pos < end) {
    const [field, wireType] = reader.tag();
    if (field !== 1) {
      reader.skip(wireType, field);
      continue;
    }
    const entryEnd = lengthEnd(reader, end);
    let key = '';
    let value: unknown = null;
    while (reader.pos < entryEnd) {
      const [part, partType] = reader.tag();
      if (part === 1) key = reader.string();
      else if (part === 2) value = readValue(reader, lengthEnd(reader, entryEnd), depth);
      else reader.skip(partType, part);
    }
    document[key] = value;
  }
  return document;
}

function readValue(reader: BinaryReader, end: number, depth: number): unknown {
  let value: unknown = null;
  while (reader.pos < end) {
    const [field, wireType] = reader.tag();
    if (field === 1) {
      reader.int32();
      value = null;
    } else if (field === 2) value = reader.double();
    else if (field === 3) value = reader.string();
    else if (field === 4) value = reader.bool();
    else if (field === 5) value = readStruct(reader, lengthEnd(reader, end), depth + 1);
    else if (field === 6) value = readList(reader, lengthEnd(reader, end), depth + 1);
    else reader.skip(wireType, field);
  }
  return value;
}

function readList(reader: BinaryReader, end: number, depth: number): unknown[] {
  if (depth > maxDepth)
    throw new PlatformError('data_loss', `expected at most ${maxDepth} levels in a reading, found more`);
  const list: unknown[] = [];
  while (reader.pos < end) {
    const [field, wireType] = reader.tag();
    if (field === 1) list.push(readValue(reader, lengthEnd(reader, end), depth));
    else reader.skip(wireType, field);
  }
  return list;
}
