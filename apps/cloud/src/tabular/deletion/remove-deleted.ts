/**
 * Removes deleted rows from the disk (I10): files without remaining rows are dropped, others are rewritten, and a deletion that no file
 * needs any more is removed from the catalog. Queries are not affected, because they never see deleted rows.
 *
 * Can be repeated after a kill at any instant: the catalog alone shows what is unfinished.
 */
import type { Catalog } from '../catalog/catalog.ts';
import type { ListedFile } from '../catalog/read-catalog.ts';
import type { Delete } from '../catalog/row-filter.ts';
import type { Compaction } from '../compaction/compaction.ts';
import { coverageOf, isWhollyDeleted, narrowDelete } from './coverage.ts';
import { removable, type StandingRules } from './standing-rules.ts';

export interface Removed {
  /** Files dropped because no row was left. */
  readonly droppedFiles: number;
  /** Files rewritten without the deleted rows. */
  readonly rewrittenFiles: number;
  /** Deletions that ended. */
  readonly endedDeletions: number;
  /** There is nothing left to do until more is deleted. */
  readonly complete: boolean;
}

const nothing: Removed = { droppedFiles: 0, rewrittenFiles: 0, endedDeletions: 0, complete: true };

/** @param nowMs time for which the rules are evaluated */
export type RemoveDeleted = (
  organizationId: string,
  rules: StandingRules,
  nowMs: number,
  signal: AbortSignal,
) => Promise<Removed>;

export function createRemoveDeleted(deps: {
  readonly catalog: Pick<Catalog, 'listedFiles' | 'deletions' | 'endDeletions' | 'sealedPosition'>;
  readonly compaction: Pick<Compaction, 'removeRows' | 'drop'>;
}): RemoveDeleted {
  const { catalog, compaction } = deps;
  /** By organization and file: deletions that the catalog cannot rule out but that cover no row. Files never change. */
  const known = new Map<string, ReadonlyMap<string, ReadonlySet<string>>>();

  return async (organizationId, rules, nowMs, signal) => {
    const sealed = await catalog.sealedPosition();
    const deletions = await catalog.deletions(organizationId);
    if (deletions.length === 0 && rules.expired.length === 0) return nothing;
    const before = known.get(organizationId);
    const clean = new Map<string, ReadonlySet<string>>();
    const dropped: string[] = [];
    let rewrittenFiles = 0;
    let complete = true;
    for (const file of await catalog.listedFiles(organizationId)) {
      signal.throwIfAborted();
      const deletes = removable(deletions, rules, file.captureDay, nowMs)
        .filter((each) => coverageOf(file, each) !== 'none')
        .map((each) => narrowDelete(each, file));
      if (deletes.length === 0) continue;
      if (isWhollyDeleted(file, deletes)) {
        dropped.push(file.file);
        continue;
      }
      const keys = new Set(deletes.map(keyOf));
      const isKnown = keys.isSubsetOf(before?.get(file.file) ?? new Set());
      const outcome = isKnown ? 'none' : await compaction.removeRows(file, deletes, signal);
      if (outcome === 'none') clean.set(file.file, keys);
      else if (outcome === 'removed') rewrittenFiles++;
      else complete = false;
    }
    const droppedFiles = dropped.length > 0 ? await compaction.drop(dropped) : 0;
    // The rows of a file that has been merged are in another file.
    complete &&= droppedFiles === dropped.length;

    known.set(organizationId, clean);
    const left = deletions.length === 0 ? [] : await catalog.listedFiles(organizationId);
    const ended = deletions.filter(
      (each) => each.upTo <= sealed && left.every((file) => isCleanOf(file, each, clean.get(file.file))),
    );
    if (ended.length > 0) await catalog.endDeletions(ended.map(({ id }) => id));
    return { droppedFiles, rewrittenFiles, endedDeletions: ended.length, complete };
  };
}

/** Whether the file definitely holds no row that the deletion covers, including rows that the hot store still shows. */
function isCleanOf(file: ListedFile, deletion: Delete, clean: ReadonlySet<string> | undefined): boolean {
  if (coverageOf(file, deletion) === 'none') return true;
  return clean?.has(keyOf(narrowDelete(deletion, file))) === true;
}

function keyOf({ predicate, upTo }: Delete): string {
  return JSON.stringify([predicate, upTo]);
}
