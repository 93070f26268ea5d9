/**
 * Keys that occur twice in a document. They are found by a table of numbers: texts of the keys, as in a Map, would take twenty to forty times
 * the memory of a document of short keys (D48).
 */
import { randomInt } from 'node:crypto';
import { skipValue } from './bson-bytes.ts';

/** So that nobody can choose keys that share places in the table. */
const seed = /* @__PURE__ */ randomInt(2 ** 31);

/**
 * Rewrites the elements of a document, target[firstField, end), with each key once: at its first place, with its last value.
 *
 * @param fields how many elements there are @returns where they end
 */
export function keepLast(target: Uint8Array, firstField: number, end: number, fields: number): number {
  const { starts, lasts, isEachOnce } = indexKeys(target, firstField, end, fields);
  if (isEachOnce) return end;
  const before = target.slice(firstField, end);
  let to = firstField;
  for (let field = 0; field < fields; field++) {
    const last = lasts[field] as number;
    if (last === dropped) continue;
    const element = before.subarray((starts[last] as number) - firstField, (starts[last + 1] as number) - firstField);
    target.set(element, to);
    to += element.length;
  }
  return to;
}

/** In `lasts`: an earlier field has the same key. */
const dropped = -1;

interface KeyIndex {
  /** Where each field begins, and where the last ends. */
  readonly starts: Int32Array;
  /** The last field with the same key. */
  readonly lasts: Int32Array;
  readonly isEachOnce: boolean;
}

function indexKeys(target: Uint8Array, firstField: number, end: number, fields: number): KeyIndex {
  const size = 2 ** Math.ceil(Math.log2(2 * fields));
  // The number of a field, from 1 on; 0: free.
  const table = new Int32Array(size);
  const [starts, lasts] = [new Int32Array(fields + 1), new Int32Array(fields)];
  let isEachOnce = true;
  let at = firstField;
  for (let field = 0; field < fields; field++) {
    starts[field] = at;
    lasts[field] = field;
    let keyEnd = at + 1;
    let hash = seed;
    for (let byte = target[keyEnd] as number; byte !== 0; byte = target[++keyEnd] as number)
      hash = Math.imul(hash ^ byte, 0x9e3779b1) ^ (hash >>> 15);
    for (hash ^= hash >>> 16; ; hash++) {
      const place = hash & (size - 1);
      const known = (table[place] as number) - 1;
      if (known < 0) {
        table[place] = field + 1;
        break;
      }
      if (!isSameKey(target, (starts[known] as number) + 1, at + 1)) continue;
      lasts[known] = field;
      lasts[field] = dropped;
      isEachOnce = false;
      break;
    }
    at = skipValue(target, keyEnd + 1, target[at]);
  }
  starts[fields] = end;
  return { starts, lasts, isEachOnce };
}

function isSameKey(target: Uint8Array, one: number, other: number): boolean {
  for (let i = 0; target[one + i] === target[other + i]; i++) if (target[one + i] === 0) return true;
  return false;
}
