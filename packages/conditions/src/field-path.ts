/** Finding the left operand in a reading (D20). */

import { isObject, type Json, type JsonObject } from './json.ts';

/** Parts of a path that an eval may have, so that looking it up stays cheap. */
export const maxPathParts = 64;

/** The value at the exact path, else at the same path under `readings`; undefined if there is none. */
export function findOperand(document: JsonObject, parts: readonly string[]): Json | undefined {
  const exact = valueAt(document, parts, 0);
  if (exact !== undefined) return exact;
  return Object.hasOwn(document, 'readings') ? valueAt(document['readings'], parts, 0) : undefined;
}

/**
 * Steps down one part at a time; a number picks from an array. A key that itself contains dots is found as well, where the
 * single steps lead nowhere.
 */
function valueAt(value: Json | undefined, parts: readonly string[], from: number): Json | undefined {
  if (from === parts.length) return value;
  if (Array.isArray(value)) {
    return /^\d+$/.test(parts[from]!) ? valueAt(value[Number(parts[from])], parts, from + 1) : undefined;
  }
  if (!isObject(value)) return undefined;
  let key = '';
  for (let to = from + 1; to <= parts.length; to++) {
    key = to === from + 1 ? parts[from]! : `${key}.${parts[to - 1]}`;
    if (!Object.hasOwn(value, key)) continue;
    const found = valueAt(value[key], parts, to);
    if (found !== undefined) return found;
  }
  return undefined;
}
