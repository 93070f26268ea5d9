/**
 * Wire bytes of google.protobuf.Struct to BSON, without objects in between: this runs once for each reading.
 *
 * Fields keep their wire order; every number is a double; a value that was never set is null. What the wire allows but no encoder
 * writes (a key twice, a value set twice, unknown fields) takes the slow path through readStruct, whose meaning this shares. Text that is
 * not UTF-8 is repaired with U+FFFD, and NUL in a key, which BSON cannot hold, becomes U+2400: a reading that was acknowledged stays readable.
 */
import { isUtf8 } from 'node:buffer';
import { maxStructLevels } from '../../wire/max-struct-levels.ts';
import { readInt32, writeIndex, writeInt32, writeRepairedText } from './bson-bytes.ts';
import { writeStructSlowly } from './struct-to-bson-slowly.ts';

const utf8 = /* @__PURE__ */ new TextDecoder('utf-8', { ignoreBOM: true });

/** Up to here a key is looked for among its predecessors; larger documents gather their keys once. */
const fewFields = 24;

/** Bytes that the BSON of a Struct of so many wire bytes can need at most. */
export function maxBsonBytes(wireBytes: number): number {
  return wireBytes * 5 + 16;
}

/** Thrown inside to leave for the slow path; carries no message because nobody sees it. */
const unusual = /* @__PURE__ */ new Error('unusual wire form');

/** Where the varint that was read last ended. Nothing here runs concurrently. */
let next = 0;

/**
 * Writes the Struct in source[start, end) as a BSON document to target at `at`; answers where it ends.
 * `target` must have maxBsonBytes(end - start) free there. Throws when the bytes are no Struct.
 */
export function writeStruct(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  try {
    return writeFields(source, start, end, target, at, 1);
  } catch (caught) {
    if (caught !== unusual) throw caught;
    return writeStructSlowly(source, start, end, target, at);
  }
}

function writeFields(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
  level: number,
): number {
  if (level > maxStructLevels) throw unusual;
  let from = start;
  let to = at + 4;
  let fields = 0;
  const firstField = to;
  while (from < end) {
    if (source[from] !== 0x0a) throw unusual;
    const entryBytes = readLength(source, from + 1, end);
    from = next;
    const entryEnd = from + entryBytes;
    // An entry as every encoder writes it: key, then value; an empty key or value may be left out.
    let keyStart = from;
    let keyEnd = from;
    if (from < entryEnd && source[from] === 0x0a) {
      const keyBytes = readLength(source, from + 1, entryEnd);
      keyStart = next;
      keyEnd = keyStart + keyBytes;
      from = keyEnd;
    }
    let valueStart = from;
    let valueEnd = from;
    if (from < entryEnd && source[from] === 0x12) {
      const valueBytes = readLength(source, from + 1, entryEnd);
      valueStart = next;
      valueEnd = valueStart + valueBytes;
      from = valueEnd;
    }
    if (from !== entryEnd) throw unusual;
    const element = to;
    const keyAt = element + 1;
    to = writeKey(source, keyStart, keyEnd, target, keyAt);
    if (fields > 0 && fields < fewFields && isRepeated(target, firstField, element, keyAt, to)) throw unusual;
    to = writeValue(source, valueStart, valueEnd, target, element, to, level);
    fields++;
  }
  if (fields >= fewFields && hasRepeated(target, firstField, to)) throw unusual;
  target[to++] = 0;
  writeInt32(target, at, to - at);
  return to;
}

function writeList(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
  level: number,
): number {
  if (level > maxStructLevels) throw unusual;
  let from = start;
  let to = at + 4;
  for (let index = 0; from < end; index++) {
    if (source[from] !== 0x0a) throw unusual;
    const valueBytes = readLength(source, from + 1, end);
    from = next + valueBytes;
    const valueStart = next;
    const element = to;
    to = writeIndex(target, element + 1, index);
    to = writeValue(source, valueStart, from, target, element, to, level);
  }
  target[to++] = 0;
  writeInt32(target, at, to - at);
  return to;
}

/** Writes the element's type at `element` and its value at `at`, behind the key. */
function writeValue(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  element: number,
  at: number,
  level: number,
): number {
  if (start === end) {
    target[element] = 0x0a;
    return at;
  }
  let to = at;
  let from = start + 1;
  switch (source[start]) {
    case 0x11: {
      if (end - from !== 8) throw unusual;
      target[element] = 0x01;
      while (from < end) target[to++] = source[from++] as number;
      return to;
    }
    case 0x1a: {
      const textBytes = readLength(source, from, end);
      from = next;
      if (from + textBytes !== end) throw unusual;
      target[element] = 0x02;
      to = writeText(source, from, end, target, at + 4);
      target[to++] = 0;
      writeInt32(target, at, to - at - 4);
      return to;
    }
    case 0x20: {
      if (end - from !== 1) throw unusual;
      if ((source[from] as number) >= 0x80) throw unusual;
      target[element] = 0x08;
      target[to++] = source[from] === 0 ? 0 : 1;
      return to;
    }
    case 0x08: {
      if (end - from !== 1 || (source[from] as number) >= 0x80) throw unusual;
      target[element] = 0x0a;
      return to;
    }
    case 0x2a: {
      const structBytes = readLength(source, from, end);
      if (next + structBytes !== end) throw unusual;
      target[element] = 0x03;
      return writeFields(source, next, end, target, to, level + 1);
    }
    case 0x32: {
      const listBytes = readLength(source, from, end);
      if (next + listBytes !== end) throw unusual;
      target[element] = 0x04;
      return writeList(source, next, end, target, to, level + 1);
    }
    default:
      throw unusual;
  }
}

/** A length and the check that so many bytes follow before `end`; they begin at `next`. */
function readLength(source: Uint8Array, at: number, end: number): number {
  let from = at;
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    if (from >= end) break;
    const byte = source[from++] as number;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) {
      if (from + value > end) break;
      next = from;
      return value;
    }
  }
  throw unusual;
}

function writeKey(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  let to = at;
  for (let from = start; from < end; from++) {
    const byte = source[from] as number;
    if (byte === 0 || byte >= 0x80) {
      to = writeRepaired(source, start, end, target, at, true);
      break;
    }
    target[to++] = byte;
  }
  target[to++] = 0;
  return to;
}

/** A text of fewer bytes is copied one by one: that takes less than the call that copies them at once. */
const fewBytes = 100;

function writeText(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  if (end - start >= fewBytes) return writeRepaired(source, start, end, target, at, false);
  let to = at;
  for (let from = start; from < end; from++) {
    const byte = source[from] as number;
    if (byte >= 0x80) return writeRepaired(source, start, end, target, at, false);
    target[to++] = byte;
  }
  return to;
}

function writeRepaired(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
  isKey: boolean,
): number {
  const bytes = source.subarray(start, end);
  if (isUtf8(bytes) && !(isKey && bytes.includes(0))) {
    target.set(bytes, at);
    return at + bytes.length;
  }
  return at + writeRepairedText(utf8.decode(bytes), target, at, isKey);
}

/** Whether the key at [keyAt, keyEnd) stands in an earlier element; elements are walked by the same rules as they were written. */
function isRepeated(target: Uint8Array, firstField: number, element: number, keyAt: number, keyEnd: number): boolean {
  const keyBytes = keyEnd - keyAt;
  for (let at = firstField; at < element; ) {
    const type = target[at++];
    let same = true;
    let i = 0;
    for (; ; i++) {
      const byte = target[at + i];
      if (same && (i >= keyBytes || byte !== target[keyAt + i])) same = false;
      if (byte === 0) break;
    }
    if (same) return true;
    at = skipValue(target, at + i + 1, type);
  }
  return false;
}

/** The same question for a whole document. */
function hasRepeated(target: Uint8Array, firstField: number, end: number): boolean {
  const keys = new Set<string>();
  let fields = 0;
  for (let at = firstField; at < end; fields++) {
    const type = target[at++];
    const keyEnd = target.indexOf(0, at);
    keys.add(Buffer.from(target.buffer, target.byteOffset + at, keyEnd - at).toString('latin1'));
    at = skipValue(target, keyEnd + 1, type);
  }
  return keys.size < fields;
}

function skipValue(target: Uint8Array, at: number, type: number | undefined): number {
  if (type === 0x01) return at + 8;
  if (type === 0x08) return at + 1;
  if (type === 0x02) return at + 4 + readInt32(target, at);
  return type === 0x0a ? at : at + readInt32(target, at);
}
