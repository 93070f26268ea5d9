/**
 * Decodes single readings (SensorData), times apart from documents. By hand, because a trigger with a condition reads
 * every reading of its component, and building messages to turn them into JSON costs a multiple.
 */
import { PlatformError } from '@platform/base';
import { maxStructLevels } from '../wire/max-struct-levels.ts';
import { bytesField, doubleField, varintField, WireReader } from '../wire/wire-reader.ts';
import { knownText } from './known-text.ts';

export interface ReadingTimes {
  /** Wall clock of the machine, ms; null: not sent. */
  readonly requestedAtMs: number | null;
  readonly receivedAtMs: number | null;
}

export type Document = Record<string, unknown>;

export function readTimes(reading: Uint8Array): ReadingTimes {
  let requestedAtMs: number | null = null;
  let receivedAtMs: number | null = null;
  const wire = new WireReader(reading, 0, reading.length);
  while (wire.next()) {
    if (wire.tag !== bytesField(1)) continue;
    const outer = wire.enter();
    while (wire.next()) {
      if (wire.tag === bytesField(1)) requestedAtMs = readTimestamp(wire);
      else if (wire.tag === bytesField(2)) receivedAtMs = readTimestamp(wire);
    }
    wire.leave(outer);
  }
  checkWhole(wire);
  return { requestedAtMs, receivedAtMs };
}

/** The reading's document as plain values; undefined for binary readings. */
export function readDocument(reading: Uint8Array): Document | undefined {
  let document: Document | undefined;
  const wire = new WireReader(reading, 0, reading.length);
  while (wire.next()) {
    // As in every oneof, the last one counts.
    if (wire.tag === bytesField(2)) document = readStruct(wire, 0);
    else if (wire.tag === bytesField(3)) document = undefined;
  }
  checkWhole(wire);
  return document;
}

// Each of these reads the content of the field that `next` found.

function readTimestamp(wire: WireReader): number {
  let seconds = 0;
  let nanos = 0;
  const outer = wire.enter();
  while (wire.next()) {
    if (wire.tag === varintField(1)) seconds = wire.value;
    else if (wire.tag === varintField(2)) nanos = wire.value;
  }
  wire.leave(outer);
  return seconds * 1_000 + Math.floor(nanos / 1_000_000);
}

function readStruct(wire: WireReader, depth: number): Document {
  if (depth > maxStructLevels) throw tooDeep();
  // Without prototype: a key named __proto__ is a key like any other.
  const document: Document = Object.create(null);
  const outer = wire.enter();
  while (wire.next()) {
    if (wire.tag === bytesField(1)) readEntry(wire, document, depth);
  }
  wire.leave(outer);
  return document;
}

function readEntry(wire: WireReader, document: Document, depth: number): void {
  let key = '';
  let value: unknown = null;
  const outer = wire.enter();
  while (wire.next()) {
    if (wire.tag === bytesField(1)) key = knownText(wire.bytes, wire.contentStart, wire.contentEnd);
    else if (wire.tag === bytesField(2)) value = readValue(wire, depth);
  }
  wire.leave(outer);
  document[key] = value;
}

function readValue(wire: WireReader, depth: number): unknown {
  let value: unknown = null;
  const outer = wire.enter();
  while (wire.next()) {
    const { tag } = wire;
    if (tag === varintField(1)) value = null;
    else if (tag === doubleField(2)) value = wire.double();
    else if (tag === bytesField(3)) value = textOf(wire);
    else if (tag === varintField(4)) value = wire.value !== 0;
    else if (tag === bytesField(5)) value = readStruct(wire, depth + 1);
    else if (tag === bytesField(6)) value = readList(wire, depth + 1);
  }
  wire.leave(outer);
  return value;
}

function readList(wire: WireReader, depth: number): unknown[] {
  if (depth > maxStructLevels) throw tooDeep();
  const list: unknown[] = [];
  const outer = wire.enter();
  while (wire.next()) {
    if (wire.tag === bytesField(1)) list.push(readValue(wire, depth));
  }
  wire.leave(outer);
  return list;
}

function textOf({ bytes, contentStart, contentEnd }: WireReader): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + contentStart, contentEnd - contentStart).toString('utf8');
}

function checkWhole(wire: WireReader): void {
  if (wire.broken)
    throw new PlatformError('data_loss', 'expected a SensorData message, found other bytes or a part of one');
}

function tooDeep(): PlatformError {
  return new PlatformError('data_loss', `expected at most ${maxStructLevels} levels in a reading, found more`);
}
