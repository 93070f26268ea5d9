/**
 * The single parser of google.protobuf.Struct, in place: it defines the meaning of every form that the wire allows, and the maximum depth.
 *
 * The forms that encoders write are parsed byte by byte, without allocating; only other valid forms need a WireReader. If a key, a value or
 * a field is repeated in its message, the last one applies. Unknown fields are skipped. A value that was never set is null. A key in two
 * entries of a document reaches the sink twice: its last value applies.
 */
import { WireReader } from './wire-reader.ts';

/** Receives the parsed values in wire order. Ranges refer to `bytes`, the bytes being parsed. */
export interface StructSink {
  /** The key of a document's next value. Returns whether the value is wanted; otherwise it is skipped, unchecked. */
  key(bytes: Uint8Array, start: number, end: number): boolean;
  /** Announces the next value of a list. */
  item(index: number): void;
  nothing(): void;
  /** A double's eight bytes, little-endian. */
  number(bytes: Uint8Array, at: number): void;
  boolean(value: boolean): void;
  /** Bytes that should be UTF-8, but need not be. */
  text(bytes: Uint8Array, start: number, end: number): void;
  beginDocument(): void;
  /** The wire bytes of the document's entries are in bytes[start..end), all parsed by now. */
  endDocument(bytes: Uint8Array, start: number, end: number): void;
  beginList(): void;
  endList(): void;
}

export type StructFault = 'broken' | 'too deep';

/** Error text for a fault. @param levels maximum that was allowed */
export function describeFault(fault: StructFault, levels: number): string {
  return fault === 'broken'
    ? 'expected a document (google.protobuf.Struct), found other bytes or a part of one'
    : `expected documents and lists nested at most ${levels} levels deep, found more`;
}

// Nothing here runs concurrently.
/** Start of the content whose length was read last. */
let contentStart = 0;
let fault: StructFault = 'broken';

/**
 * Walks the Struct in bytes[start..end). Returns null, or a fault; the sink has then received what was found before it.
 * @param sink null: only the result is needed
 * @param levels maximum nesting of documents and lists, including the outermost
 */
export function walkStruct(
  bytes: Uint8Array,
  start: number,
  end: number,
  sink: StructSink | null,
  levels: number,
): StructFault | null {
  fault = 'broken';
  return walkDocument(bytes, start, end, sink, levels) ? null : fault;
}

function walkDocument(bytes: Uint8Array, start: number, end: number, sink: StructSink | null, levels: number): boolean {
  if (levels === 0) return isTooDeep();
  if (sink !== null) sink.beginDocument();
  let at = start;
  while (at < end) {
    // An entry {1: key, 2: Value} as written by every encoder; an empty key or value may be omitted.
    const entryEnd = bytes[at] === 0x0a ? lengthEnd(bytes, at + 1, end) : -1;
    if (entryEnd >= 0) {
      let from = contentStart;
      let keyStart = from;
      let keyEnd = from;
      if (from < entryEnd && bytes[from] === 0x0a) {
        from = lengthEnd(bytes, from + 1, entryEnd);
        keyStart = contentStart;
        keyEnd = from;
      }
      let valueStart = from;
      if (from >= 0 && from < entryEnd && bytes[from] === 0x12) {
        from = lengthEnd(bytes, from + 1, entryEnd);
        valueStart = contentStart;
      }
      if (from === entryEnd) {
        at = entryEnd;
        if (sink !== null && !sink.key(bytes, keyStart, keyEnd)) continue;
        if (!walkValue(bytes, valueStart, entryEnd, sink, levels)) return false;
        continue;
      }
    }
    at = walkOddField(bytes, at, end, sink, levels);
    if (at < 0) return false;
  }
  if (sink !== null) sink.endDocument(bytes, start, end);
  return true;
}

function walkList(bytes: Uint8Array, start: number, end: number, sink: StructSink | null, levels: number): boolean {
  if (levels === 0) return isTooDeep();
  if (sink !== null) sink.beginList();
  let at = start;
  for (let index = 0; at < end; ) {
    let valueEnd = bytes[at] === 0x0a ? lengthEnd(bytes, at + 1, end) : -1;
    let valueStart = contentStart;
    let isItem = true;
    if (valueEnd < 0) {
      const odd = new WireReader(bytes, at, end);
      if (!odd.next()) return false;
      isItem = odd.number === 1 && odd.type === 2;
      valueStart = odd.contentStart;
      valueEnd = odd.contentEnd;
    }
    if (isItem) {
      if (sink !== null) sink.item(index);
      if (!walkValue(bytes, valueStart, valueEnd, sink, levels)) return false;
      index++;
    }
    at = valueEnd;
  }
  if (sink !== null) sink.endList();
  return true;
}

/** Encoders write a Value as a single field. */
function walkValue(bytes: Uint8Array, start: number, end: number, sink: StructSink | null, levels: number): boolean {
  const content = start + 1;
  if (start === end) {
    if (sink !== null) sink.nothing();
    return true;
  }
  switch (bytes[start]) {
    case 0x11:
      if (end - content !== 8) break;
      if (sink !== null) sink.number(bytes, content);
      return true;
    case 0x1a:
      if (lengthEnd(bytes, content, end) !== end) break;
      if (sink !== null) sink.text(bytes, contentStart, end);
      return true;
    case 0x20:
      if (end - content !== 1 || (bytes[content] as number) >= 0x80) break;
      if (sink !== null) sink.boolean(bytes[content] !== 0);
      return true;
    case 0x08:
      if (end - content !== 1 || (bytes[content] as number) >= 0x80) break;
      if (sink !== null) sink.nothing();
      return true;
    case 0x2a:
      if (lengthEnd(bytes, content, end) !== end) break;
      return walkDocument(bytes, contentStart, end, sink, levels - 1);
    case 0x32:
      if (lengthEnd(bytes, content, end) !== end) break;
      return walkList(bytes, contentStart, end, sink, levels - 1);
  }
  return walkOddValue(bytes, start, end, sink, levels);
}

/** Handles a field of a Struct in a form that no encoder writes; returns where it ends, -1 after a fault. */
function walkOddField(bytes: Uint8Array, start: number, end: number, sink: StructSink | null, levels: number): number {
  const wire = new WireReader(bytes, start, end);
  if (!wire.next()) return -1;
  const { contentEnd: fieldEnd } = wire;
  if (wire.number !== 1 || wire.type !== 2) return fieldEnd;
  const entry = new WireReader(bytes, wire.contentStart, fieldEnd);
  let keyStart = fieldEnd;
  let keyEnd = fieldEnd;
  let valueStart = fieldEnd;
  let valueEnd = fieldEnd;
  while (entry.next()) {
    if (entry.type !== 2) continue;
    if (entry.number === 1) {
      keyStart = entry.contentStart;
      keyEnd = entry.contentEnd;
    } else if (entry.number === 2) {
      // An earlier value that is overridden must be valid, too.
      if (!walkValue(bytes, valueStart, valueEnd, null, levels)) return -1;
      valueStart = entry.contentStart;
      valueEnd = entry.contentEnd;
    }
  }
  if (entry.broken) return -1;
  if (sink !== null && !sink.key(bytes, keyStart, keyEnd)) return fieldEnd;
  return walkValue(bytes, valueStart, valueEnd, sink, levels) ? fieldEnd : -1;
}

function walkOddValue(bytes: Uint8Array, start: number, end: number, sink: StructSink | null, levels: number): boolean {
  const wire = new WireReader(bytes, start, end);
  let tag = 0;
  let isTrue = false;
  let lastStart = 0;
  let lastEnd = 0;
  while (wire.next()) {
    const { tag: found } = wire;
    if (found !== 0x08 && found !== 0x11 && found !== 0x1a && found !== 0x20 && found !== 0x2a && found !== 0x32)
      continue;
    // An earlier value that is overridden must be valid, too.
    if (!walkNested(bytes, lastStart, lastEnd, tag, null, levels)) return false;
    tag = found;
    isTrue = wire.value !== 0;
    lastStart = wire.contentStart;
    lastEnd = wire.contentEnd;
  }
  if (wire.broken) return false;
  if (sink !== null) {
    if (tag === 0x11) sink.number(bytes, lastStart);
    else if (tag === 0x1a) sink.text(bytes, lastStart, lastEnd);
    else if (tag === 0x20) sink.boolean(isTrue);
    else if (tag !== 0x2a && tag !== 0x32) sink.nothing();
  }
  return walkNested(bytes, lastStart, lastEnd, tag, sink, levels);
}

/** Walks the document or list in a Value's field `tag`; true for a field that nests nothing. */
function walkNested(
  bytes: Uint8Array,
  start: number,
  end: number,
  tag: number,
  sink: StructSink | null,
  levels: number,
): boolean {
  if (tag === 0x2a) return walkDocument(bytes, start, end, sink, levels - 1);
  return tag !== 0x32 || walkList(bytes, start, end, sink, levels - 1);
}

function isTooDeep(): false {
  fault = 'too deep';
  return false;
}

/**
 * Reads a length; its content begins at `contentStart`. Returns where the content ends; -1 if that is after `end`, or if no encoder writes
 * this form.
 */
function lengthEnd(bytes: Uint8Array, at: number, end: number): number {
  let length = 0;
  let scale = 1;
  for (let from = at; from < end && from < at + 5; from++) {
    const byte = bytes[from] as number;
    length += (byte & 0x7f) * scale;
    if (byte < 0x80) {
      contentStart = from + 1;
      return contentStart + length > end ? -1 : contentStart + length;
    }
    scale *= 128;
  }
  return -1;
}
