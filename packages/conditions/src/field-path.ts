/** Finds the left operand in a reading (D20). */

import { isObject, type Json, type JsonObject } from './json.ts';

/** Maximum number of path parts in an eval, so that the lookup stays cheap. */
export const maxPathParts = 64;

/** The value at the exact path, otherwise at the same path under `readings`; undefined if there is none. */
export function findOperand(document: JsonObject, parts: readonly string[]): Json | undefined {
  const exact = valueAt(document, parts, 0);
  if (exact !== undefined) return exact;
  return Object.hasOwn(document, 'readings') ? valueAt(document['readings'], parts, 0) : undefined;
}

/**
 * Follows the path one part at a time; a number selects from an array. If that leads nowhere, keys that contain dots themselves are tried
 * as well.
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
