/** Whether a document can be stored and loaded, without decoding it: this runs once for each reading before it is acknowledged (I1, D14). */
import { errorText } from '@platform/base';
import { maxStructLevels } from '../wire/max-struct-levels.ts';
import { readStruct } from './read-struct.ts';

/** Why the Struct in bytes[start..end) cannot be stored; null: it can. */
export function structProblem(bytes: Uint8Array, start: number, end: number): string | null {
  // What encoders write is walked; anything else is left to the reader that loads it.
  if (isUsual(bytes, start, end, 1)) return null;
  try {
    readStruct(bytes, start, end);
    return null;
  } catch (caught) {
    return errorText(caught);
  }
}

/** Where the content begins whose length was read last. Nothing here runs concurrently. */
let next = 0;

/** Struct {entries 1: {1: key, 2: Value}}: each entry as every encoder writes it; an empty key or value may be left out. */
function isUsual(bytes: Uint8Array, start: number, end: number, level: number): boolean {
  if (level > maxStructLevels) return false;
  let at = start;
  while (at < end) {
    if (bytes[at] !== 0x0a) return false;
    const entryEnd = contentEnd(bytes, at + 1, end);
    if (entryEnd < 0) return false;
    at = next;
    if (at < entryEnd && bytes[at] === 0x0a) {
      at = contentEnd(bytes, at + 1, entryEnd);
      if (at < 0) return false;
    }
    if (at < entryEnd && bytes[at] === 0x12) {
      at = contentEnd(bytes, at + 1, entryEnd);
      if (at < 0 || !isUsualValue(bytes, next, at, level)) return false;
    }
    if (at !== entryEnd) return false;
  }
  return true;
}

function isUsualList(bytes: Uint8Array, start: number, end: number, level: number): boolean {
  if (level > maxStructLevels) return false;
  let at = start;
  while (at < end) {
    if (bytes[at] !== 0x0a) return false;
    at = contentEnd(bytes, at + 1, end);
    if (at < 0 || !isUsualValue(bytes, next, at, level)) return false;
  }
  return true;
}

function isUsualValue(bytes: Uint8Array, start: number, end: number, level: number): boolean {
  if (start === end) return true;
  const content = start + 1;
  switch (bytes[start]) {
    case 0x11:
      return end - content === 8;
    case 0x08:
    case 0x20:
      return end - content === 1 && (bytes[content] as number) < 0x80;
    case 0x1a:
      return contentEnd(bytes, content, end) === end;
    case 0x2a:
      return contentEnd(bytes, content, end) === end && isUsual(bytes, next, end, level + 1);
    case 0x32:
      return contentEnd(bytes, content, end) === end && isUsualList(bytes, next, end, level + 1);
    default:
      return false;
  }
}

/** Reads a length; its content begins at `next`. Answers where it ends; -1 when that is behind `end`. */
function contentEnd(bytes: Uint8Array, at: number, end: number): number {
  let length = 0;
  let scale = 1;
  for (let from = at; from < end && from < at + 5; from++) {
    const byte = bytes[from] as number;
    length += (byte & 0x7f) * scale;
    if (byte < 0x80) {
      next = from + 1;
      return next + length > end ? -1 : next + length;
    }
    scale *= 128;
  }
  return -1;
}
