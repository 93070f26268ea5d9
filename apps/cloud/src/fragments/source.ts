/** Reads fragments as one organization may use them, each only once. */
import type { FoundFragment } from '@platform/machine-config/fragments';
import type { JsonObject } from '@platform/machine-config/schema';
import { isMissing, requireIntactSet } from '../metadata/row-checks/require-complete.ts';
import { alteredRows, requireRight } from '../metadata/row-checks/require-right.ts';
import type { Database } from '../metadata/tables.ts';
import { type KnownRevision, RevisionCache } from './revision-cache.ts';
import { checkedFragments, checkedRevisions, checkedTags, type FragmentsTables } from './store.ts';

export type FragmentRow = FragmentsTables['fragments'];
export type RevisionRow = FragmentsTables['fragment_revisions'];
export type Found = FoundFragment | 'unknown' | 'unknown_version';

/** Which revisions of a fragment may be used: all, those saved as public or unlisted, or none. */
export type Rights = (fragment: FragmentRow) => 'all' | 'shared' | 'none';

/** The rights of an organization's documents; null: the rights of any organization. */
export const rightsOf =
  (organizationId: string | null): Rights =>
  (fragment) =>
    fragment.organization_id === organizationId ? 'all' : fragment.visibility === 'private' ? 'none' : 'shared';

export interface FragmentSource {
  fragment(id: string): Promise<FragmentRow | undefined>;
  /** Also undefined if its configuration is no longer kept. */
  revision(id: string, revision: number): Promise<RevisionRow | undefined>;
  /** The revision to which a version (a revision, a tag, '' for the newest) currently refers; undefined if there is none. */
  revisionOf(fragment: FragmentRow, version: string): Promise<number | undefined>;
  find(rights: Rights, id: string, version: string): Promise<Found>;
  /** A revision that was used before, even if the right to it was lost. */
  findKept(id: string, revision: number): Promise<FoundFragment | undefined>;
}

/**
 * @param db a transaction, or the database, whose content may change between reads.
 * @param cache not for transactions that write revisions: they may read some that are never committed.
 */
export function createFragmentSource(db: Database, cache: RevisionCache = new RevisionCache()): FragmentSource {
  const rows = new Map<string, Promise<FragmentRow | undefined>>();
  const tags = new Map<string, Promise<number | undefined>>();
  const once = <T>(known: Map<string, Promise<T>>, key: string, read: () => Promise<T>): Promise<T> => {
    let found = known.get(key);
    if (found === undefined) {
      found = read();
      known.set(key, found);
    }
    return found;
  };

  const fragment = (id: string): Promise<FragmentRow | undefined> => once(rows, id, () => readFragment(db, id));
  // Read values are kept only in the cache, which is bounded.
  const cached = async (id: string, number: number): Promise<KnownRevision | undefined> => {
    const key = `${id} ${number}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const read = await db
      .selectFrom('fragment_revisions')
      .selectAll()
      .select(asStored)
      .where('fragment_id', '=', id)
      .where('revision', '=', number)
      .executeTakeFirst();
    if (read === undefined) await requireIntactSet(db, checkedRevisions, id);
    else requireRightRevisions([read]);
    if (read === undefined || read.config === '') return undefined;
    const { stored: _, ...row } = read;
    const found = { row, config: JSON.parse(row.config) as JsonObject };
    cache.set(key, found);
    return found;
  };
  const revisionOf = async (row: FragmentRow, version: string): Promise<number | undefined> => {
    if (version === '') return row.revision;
    if (/^\d{1,9}$/.test(version)) return Number(version);
    return once(tags, `${row.id} ${version}`, async () => {
      const tag = await db
        .selectFrom('fragment_tags')
        .selectAll()
        .where('fragment_id', '=', row.id)
        .where('tag', '=', version)
        .executeTakeFirst();
      if (tag === undefined) await requireIntactSet(db, checkedTags, row.id);
      else requireRight(checkedTags, [tag]);
      return tag?.revision;
    });
  };

  return {
    fragment,
    revision: async (id, number) => (await cached(id, number))?.row,
    revisionOf,
    async find(rights, id, version) {
      const row = await fragment(id);
      const right = row === undefined ? 'none' : rights(row);
      if (row === undefined || right === 'none') return 'unknown';
      const number = await revisionOf(row, version);
      const found = number === undefined ? undefined : await cached(id, number);
      if (found === undefined || !(right === 'all' || found.row.visibility !== 'private')) return 'unknown_version';
      return { revision: String(found.row.revision), config: found.config };
    },
    async findKept(id, number) {
      const found = await cached(id, number);
      return found === undefined ? undefined : { revision: String(number), config: found.config };
    },
  };
}

/** @throws data_loss when its row was altered or is missing */
export async function readFragment(db: Database, id: string): Promise<FragmentRow | undefined> {
  const row = await db.selectFrom('fragments').selectAll().where('id', '=', id).executeTakeFirst();
  if (row !== undefined) requireRight(checkedFragments, [row]);
  // Every fragment has revisions, which are written and deleted with it.
  else if (await isMissing(db, checkedFragments, id, checkedRevisions))
    throw alteredRows({ text: `fragment ${id}: its row in fragments is missing, but revisions of it are expected` });
  return row;
}

/** The stored form of a configuration, which the checksum covers. */
export const asStored = 'config as stored';

/** @throws data_loss when one of them was altered */
export function requireRightRevisions(rows: readonly { readonly stored: string }[]): void {
  requireRight(
    checkedRevisions,
    rows.map(({ stored, ...row }) => ({ ...row, config: stored })),
  );
}
