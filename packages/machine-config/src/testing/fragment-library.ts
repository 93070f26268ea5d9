/** For tests: fragments in memory, and the problems of resolving a document with them. */
import { type FoundFragment, type Lookup, resolveFragments } from '../fragments.ts';
import type { JsonObject } from '../schema.ts';

/** Fragments by id, all of revision 1; `id@version` for a pinned one. */
export const lookupIn =
  (fragments: Readonly<Record<string, JsonObject>>): Lookup =>
  (id, version): FoundFragment | 'unknown' | 'unknown_version' => {
    const config = fragments[version === '' ? id : `${id}@${version}`];
    if (config !== undefined) return { revision: version === '' ? '1' : version, config };
    return Object.hasOwn(fragments, id) ? 'unknown_version' : 'unknown';
  };

/** `level path: message` of each problem, in order. */
export const texts = (document: JsonObject, fragments: Readonly<Record<string, JsonObject>>): string[] =>
  resolveFragments(document, lookupIn(fragments)).problems.map(
    ({ level, path, message }) => `${level} ${path}: ${message}`,
  );
