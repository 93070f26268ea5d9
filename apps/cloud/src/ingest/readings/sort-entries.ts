/** Sorts the entries of a document by their bytes, in place, in steps: a reading of 4 MB may have half a million of them. */
import { type Steps, WireReader } from '@platform/base';
import { copyRange } from '../../reading-codec/copy-range.ts';

const entriesPerStep = 4_096;

/** @param start and end: the wire bytes of the document's fields, which are a whole message */
export function* sortEntries(bytes: Uint8Array, start: number, end: number): Steps<void> {
  const before = bytes.slice(start, end);
  const starts = yield* startsOf(before);
  const sorted = yield* mergeSort(before, starts);
  let at = start;
  for (const [place, entry] of sorted.entries()) {
    at = copyRange(before, starts[entry] as number, starts[entry + 1] as number, bytes, at);
    if (place % entriesPerStep === entriesPerStep - 1) yield;
  }
}

/** The same at once, for short documents: faster than in steps, which pay off for thousands of entries. */
export function sortFewEntries(bytes: Uint8Array, start: number, end: number): void {
  const before = bytes.slice(start, end);
  const spans: { readonly start: number; readonly end: number }[] = [];
  const fields = new WireReader(before, 0, before.length);
  while (fields.next()) spans.push({ start: fields.fieldStart, end: fields.contentEnd });
  spans.sort((one, other) => compare(before, one.start, one.end, other.start, other.end));
  let at = start;
  for (const span of spans) at = copyRange(before, span.start, span.end, bytes, at);
}

/** Where each field starts, and last where the message ends. */
function* startsOf(message: Uint8Array): Steps<Uint32Array> {
  const fields = new WireReader(message, 0, message.length);
  // A field takes at least two bytes.
  const starts = new Uint32Array(Math.floor(message.length / 2) + 1);
  let count = 0;
  while (fields.next()) {
    starts[count++] = fields.fieldStart;
    if (count % entriesPerStep === 0) yield;
  }
  starts[count] = message.length;
  return starts.subarray(0, count + 1);
}

/** Indexes of the entries in the order of their bytes. */
function* mergeSort(bytes: Uint8Array, starts: Uint32Array): Steps<Uint32Array> {
  const count = starts.length - 1;
  let from = Uint32Array.from({ length: count }, (_, index) => index);
  let to = new Uint32Array(count);
  let merged = 0;
  for (let width = 1; width < count; width *= 2) {
    for (let left = 0; left < count; left += 2 * width) {
      const middle = Math.min(left + width, count);
      const end = Math.min(middle + width, count);
      for (let [a, b, at] = [left, middle, left] as [number, number, number]; at < end; at++) {
        const takesLeft =
          b === end || (a < middle && compareEntries(bytes, starts, from[a] as number, from[b] as number) <= 0);
        to[at] = from[takesLeft ? a++ : b++] as number;
        if (++merged % entriesPerStep === 0) yield;
      }
    }
    [from, to] = [to, from];
  }
  return from;
}

function compareEntries(bytes: Uint8Array, starts: Uint32Array, one: number, other: number): number {
  return compare(
    bytes,
    starts[one] as number,
    starts[one + 1] as number,
    starts[other] as number,
    starts[other + 1] as number,
  );
}

/** Compares two ranges of the bytes; a shorter one comes before those that begin with it. */
export function compare(bytes: Uint8Array, first: number, firstEnd: number, second: number, secondEnd: number): number {
  const length = Math.min(firstEnd - first, secondEnd - second);
  for (let index = 0; index < length; index++) {
    const difference = (bytes[first + index] as number) - (bytes[second + index] as number);
    if (difference !== 0) return difference;
  }
  return firstEnd - first - (secondEnd - second);
}
