/**
 * Decodes single readings (SensorData), times apart from documents. By hand, because a trigger with a condition reads
 * every reading of its component, and building messages to turn them into JSON costs a multiple.
 */
import { PlatformError } from '@platform/base';
import { bytesField, doubleField, varintField, WireReader } from './wire-reader.ts';

export interface ReadingTimes {
  /** Wall clock of the machine, ms; null: not sent. */
  readonly requestedAtMs: number | null;
  readonly receivedAtMs: number | null;
}

export type Document = Record<string, unknown>;

const maxDepth = 100;

export function readTimes(reading: Uint8Array): ReadingTimes {
  const reader = new WireReader(reading);
  let requestedAtMs: number | null = null;
  let receivedAtMs: number | null = null;
  while (reader.pos < reading.length) {
    const tag = reader.tag();
    if (tag !== bytesField(1)) {
      reader.skip(reading.length);
      continue;
    }
    const end = reader.lengthEnd(reading.length);
    while (reader.pos < end) {
      const tag = reader.tag();
      if (tag === bytesField(1)) requestedAtMs = readTimestamp(reader, reader.lengthEnd(end));
      else if (tag === bytesField(2)) receivedAtMs = readTimestamp(reader, reader.lengthEnd(end));
      else reader.skip(end);
    }
  }
  return { requestedAtMs, receivedAtMs };
}

/** The reading's document as plain values; undefined for binary readings. */
export function readDocument(reading: Uint8Array): Document | undefined {
  const reader = new WireReader(reading);
  let document: Document | undefined;
  while (reader.pos < reading.length) {
    const tag = reader.tag();
    if (tag === bytesField(2)) {
      document = readStruct(reader, reader.lengthEnd(reading.length), 0);
    } else {
      // As in every oneof, the last one counts.
      if (tag === bytesField(3)) document = undefined;
      reader.skip(reading.length);
    }
  }
  return document;
}

function readTimestamp(reader: WireReader, end: number): number {
  let seconds = 0;
  let nanos = 0;
  while (reader.pos < end) {
    const tag = reader.tag();
    if (tag === varintField(1)) seconds = reader.int64();
    else if (tag === varintField(2)) nanos = reader.int64();
    else reader.skip(end);
  }
  return seconds * 1_000 + Math.floor(nanos / 1_000_000);
}

function readStruct(reader: WireReader, end: number, depth: number): Document {
  if (depth > maxDepth) throw tooDeep();
  // Without prototype: a key named __proto__ is a key like any other.
  const document: Document = Object.create(null);
  while (reader.pos < end) {
    const tag = reader.tag();
    if (tag !== bytesField(1)) {
      reader.skip(end);
      continue;
    }
    const entryEnd = reader.lengthEnd(end);
    let key = '';
    let value: unknown = null;
    while (reader.pos < entryEnd) {
      const tag = reader.tag();
      if (tag === bytesField(1)) key = reader.key(reader.lengthEnd(entryEnd));
      else if (tag === bytesField(2)) value = readValue(reader, reader.lengthEnd(entryEnd), depth);
      else reader.skip(entryEnd);
    }
    document[key] = value;
  }
  return document;
}

function readValue(reader: WireReader, end: number, depth: number): unknown {
  let value: unknown = null;
  while (reader.pos < end) {
    const tag = reader.tag();
    if (tag === doubleField(2)) value = reader.double();
    else if (tag === bytesField(3)) value = reader.text(reader.lengthEnd(end));
    else if (tag === varintField(4)) value = reader.varint() !== 0;
    else if (tag === bytesField(5)) value = readStruct(reader, reader.lengthEnd(end), depth + 1);
    else if (tag === bytesField(6)) value = readList(reader, reader.lengthEnd(end), depth + 1);
    else {
      if (tag === varintField(1)) value = null;
      reader.skip(end);
    }
  }
  return value;
}

function readList(reader: WireReader, end: number, depth: number): unknown[] {
  if (depth > maxDepth) throw tooDeep();
  const list: unknown[] = [];
  while (reader.pos < end) {
    const tag = reader.tag();
    if (tag === bytesField(1)) list.push(readValue(reader, reader.lengthEnd(end), depth));
    else reader.skip(end);
  }
  return list;
}

function tooDeep(): PlatformError {
  return new PlatformError('data_loss', `expected at most ${maxDepth} levels in a reading, found more`);
}
