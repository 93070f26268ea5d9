/**
 * Resolves a document with the fragments that it may use. The resolver is pure: it reports missing fragments, which are read before it is
 * called again.
 */
import { type ResolvedDocument, resolveFragments } from '@platform/machine-config/fragments';
import type { JsonObject } from '@platform/machine-config/schema';
import type { Found, FragmentSource, Rights } from './source.ts';

/** The part's revision for each import: `<fragment id> <requested version>` → revision. */
export type Held = ReadonlyMap<string, number>;

export const importKey = (fragmentId: string, version: string): string => `${fragmentId} ${version}`;

/**
 * Resolves the document with the revisions that it may use now.
 *
 * @param held the part's previous revisions, read only if needed: an import whose right was lost stays at that revision, with a notice.
 */
export function resolveFor(
  source: FragmentSource,
  rights: Rights,
  document: JsonObject,
  held: () => Promise<Held>,
): Promise<ResolvedDocument> {
  return resolveWith(document, async (id, version) => {
    const found = await source.find(rights, id, version);
    if (typeof found === 'object') return found;
    const revision = (await held()).get(importKey(id, version));
    const kept = revision === undefined ? undefined : await source.findKept(id, revision);
    if (kept === undefined) return found;
    const notice = `fragment ${id} may no longer be used here: its revision ${revision} stays and gets no updates`;
    return { ...kept, notice };
  });
}

/** Resolves the document with exactly the revisions of the part's last successful resolution. */
export function resolveHeld(source: FragmentSource, document: JsonObject, held: Held): Promise<ResolvedDocument> {
  return resolveWith(document, async (id, version) => {
    const revision = held.get(importKey(id, version));
    return (revision === undefined ? undefined : await source.findKept(id, revision)) ?? 'unknown';
  });
}

/** Terminates: every round resolves one more level of nesting, and the number of levels is limited. */
export async function resolveWith(
  document: JsonObject,
  find: (id: string, version: string) => Promise<Found>,
): Promise<ResolvedDocument> {
  const known = new Map<string, Found>();
  for (;;) {
    const missing = new Map<string, readonly [string, string]>();
    const resolved = resolveFragments(document, (id, version) => {
      const found = known.get(importKey(id, version));
      if (found === undefined) missing.set(importKey(id, version), [id, version]);
      return found ?? 'unknown';
    });
    if (missing.size === 0) return resolved;
    for (const [key, [id, version]] of missing) known.set(key, await find(id, version));
  }
}
