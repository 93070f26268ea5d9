/**
 * What changed between two documents, by resource: list entries are matched by their names, so that an inserted component is one change and
 * not a change to every later entry. Pure, and about linear in the size of both, because users save documents with thousands of entries.
 */
import type { Change, Place } from './diff/change.ts';
import { diffLists, isLists } from './diff/diff-lists.ts';
import { isObject } from './is-object.ts';
import type { Json } from './schema.ts';

export type { Change } from './diff/change.ts';
export { diffLines } from './diff/diff-lines.ts';
export { equal } from './diff/equal.ts';

/** The changes that turn `before` into `after`; empty if they differ only in the order of keys. */
export function diff(before: Json, after: Json): readonly Change[] {
  const changes: Change[] = [];
  diffInto({ before, after, path: [], of: [] }, changes);
  return changes;
}

function diffInto(place: Place, changes: Change[]): void {
  const { before, after, path, of } = place;
  if (before === after) return;
  if (isLists(place)) {
    diffLists(place, changes, diffInto);
  } else if (isObject(before) && isObject(after)) {
    for (const key of Object.keys(before)) {
      const at = { path: [...path, key], of };
      const value = before[key] as Json;
      if (Object.hasOwn(after, key)) diffInto({ before: value, after: after[key] as Json, ...at }, changes);
      else changes.push({ kind: 'removed', before: value, ...at });
    }
    for (const key of Object.keys(after)) {
      if (!Object.hasOwn(before, key))
        changes.push({ kind: 'added', path: [...path, key], of, after: after[key] as Json });
    }
  } else if (before !== after) {
    changes.push({ kind: 'changed', path, of, before, after });
  }
}
