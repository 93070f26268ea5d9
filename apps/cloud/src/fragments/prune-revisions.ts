/**
 * Limits the stored size of a fragment's revisions, so that saving cannot fill the disk. The oldest revisions lose their configurations but
 * keep their authors and times. The newest revision is kept, and so is every revision that a tag, a part, another fragment or default
 * fragments refer to.
 */
import { savedBytes } from '../metadata/sealed-documents.ts';
import type { Database, DatabaseTransaction } from '../metadata/tables.ts';
import type { FragmentRow } from './source.ts';

/** Limit for the configurations of one fragment together. */
export const maxHistoryBytes: number = 64 * 1024 * 1024;

const rowsAtOnce = 100;
const sizeOf = savedBytes('config');

export interface RevisionPruner {
  /**
   * Must be called in the transaction that saved the newest revision of `row`, after the usage by parts is written.
   * @returns the revisions whose configurations were deleted
   */
  saved(trx: DatabaseTransaction, row: FragmentRow, savedBytes: number): Promise<readonly number[]>;
  /** Must be called if the transaction failed or the fragment is deleted. */
  forget(fragmentId: string): void;
}

/** @param defaultVersionsOf returns the versions of a fragment that default fragments refer to. */
export function createRevisionPruner(
  defaultVersionsOf: (fragmentId: string) => readonly string[],
  maxBytes: number = maxHistoryBytes,
): RevisionPruner {
  /** Stored size of each fragment's configurations, once it has been read. */
  const keptBytes = new Map<string, number>();
  return {
    async saved(trx, row, savedBytes) {
      const before = keptBytes.get(row.id);
      const kept = before === undefined ? await keptBytesOf(trx, row.id) : before + savedBytes;
      keptBytes.set(row.id, kept);
      if (kept <= maxBytes) return [];
      const used = await revisionsInUse(trx, row.id, defaultVersionsOf(row.id));
      const dropped = await dropOldest(trx, row, used, kept, maxBytes);
      keptBytes.set(row.id, dropped.keptBytes);
      return dropped.revisions;
    },
    forget: (fragmentId) => void keptBytes.delete(fragmentId),
  };
}

async function keptBytesOf(trx: Database, fragmentId: string): Promise<number> {
  const row = await trx
    .selectFrom('fragment_revisions')
    .select((each) => each.fn.sum<number | string>(sizeOf).as('bytes'))
    .where('fragment_id', '=', fragmentId)
    .executeTakeFirst();
  return Number(row?.bytes ?? 0);
}

async function revisionsInUse(
  trx: Database,
  fragmentId: string,
  defaultVersions: readonly string[],
): Promise<ReadonlySet<number>> {
  const tags = trx.selectFrom('fragment_tags').select('revision').where('fragment_id', '=', fragmentId);
  // A part that keeps its previous document uses a different revision than it requests.
  const parts = trx
    .selectFrom('part_fragments')
    .select(['revision', 'version'])
    .where('fragment_id', '=', fragmentId)
    .distinct();
  const imports = trx.selectFrom('fragment_imports').select('version').where('child_id', '=', fragmentId).distinct();
  const [tagged, ofParts, imported] = [await tags.execute(), await parts.execute(), await imports.execute()];
  const versions = [...ofParts, ...imported].map(({ version }) => version).concat(defaultVersions);
  const numbers = versions.filter((version) => /^\d{1,9}$/.test(version)).map(Number);
  return new Set([...[...tagged, ...ofParts].map(({ revision }) => revision), ...numbers]);
}

/** Reduces the size to three quarters of the limit, so that this is not repeated at every save. Returns the new `keptBytes`. */
async function dropOldest(
  trx: Database,
  { id, revision: newest }: FragmentRow,
  used: ReadonlySet<number>,
  keptBytes: number,
  maxBytes: number,
): Promise<{ readonly keptBytes: number; readonly revisions: readonly number[] }> {
  const all: number[] = [];
  let kept = keptBytes;
  for (let upTo = 0; kept > maxBytes * 0.75; ) {
    const rows = await trx
      .selectFrom('fragment_revisions')
      .select(['revision', sizeOf.as('size')])
      .where('fragment_id', '=', id)
      .where('revision', '>', upTo)
      .where('revision', '<', newest)
      .where(sizeOf, '>', 0)
      .orderBy('revision')
      .limit(rowsAtOnce)
      .execute();
    if (rows.length === 0) break;
    upTo = rows.at(-1)?.revision ?? newest;
    const gone: number[] = [];
    for (const { revision, size } of rows) {
      if (kept <= maxBytes * 0.75) break;
      if (used.has(revision)) continue;
      gone.push(revision);
      kept -= Number(size);
    }
    if (gone.length === 0) continue;
    all.push(...gone);
    await trx
      .updateTable('fragment_revisions')
      .set({ config: '' })
      .where('fragment_id', '=', id)
      .where('revision', 'in', gone)
      .execute();
    await trx.deleteFrom('fragment_imports').where('fragment_id', '=', id).where('revision', 'in', gone).execute();
  }
  return { keptBytes: kept, revisions: all };
}
