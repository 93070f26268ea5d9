/**
 * What changed between two documents, by resource: entries of lists are matched by their names, so that an inserted
 * component is one change and not a change of all that follow it. Pure, and about linear in the size of both: users save
 * them, with thousands of entries.
 */
import { diffLists, isLists } from './diff/diff-lists.ts';
import { isObject } from './is-object.ts';
import type { Json } from './schema.ts';

export { applyDiff } from './diff/apply-diff.ts';
export { diffLines } from './diff/diff-lines.ts';
export { equal } from './diff/equal.ts';

/** A key of an object, or a position in a list: in the old list, except for the last step of what was added. */
export type Step = string | number;

export type Change = {
  readonly path: readonly Step[];
  /** Names of the list entries on the way, outermost first, as the old document has them. */
  readonly of: readonly string[];
} & (
  | { readonly kind: 'added'; readonly after: Json }
  | { readonly kind: 'removed'; readonly before: Json }
  | { readonly kind: 'changed'; readonly before: Json; readonly after: Json }
  /** An entry that is the same except for its name; the path is that of the name. */
  | { readonly kind: 'renamed'; readonly before: Json; readonly after: Json }
  /** To this position of the new list. */
  | { readonly kind: 'moved'; readonly to: number }
);

/** The changes that make `after` of `before`; none for documents that are equal except for the order of keys. */
export function diff(before: Json, after: Json): readonly Change[] {
  const changes: Change[] = [];
  diffInto({ before, after, path: [], of: [] }, changes);
  return changes;
}

/** Two values at one place. */
export interface Place {
  readonly before: Json;
  readonly after: Json;
  readonly path: readonly Step[];
  readonly of: readonly string[];
}

function diffInto(place: Place, changes: Change[]): void {
  const { before, after, path, of } = place;
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
