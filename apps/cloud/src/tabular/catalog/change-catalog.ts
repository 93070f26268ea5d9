/** Changes the catalog. Each change is one transaction (I7, I9, I10). */
import { aborted } from '@platform/base';
import type { Database } from '../../metadata/tables.ts';
import { noteRecentDelete } from '../deletion/recent-deletes.ts';
import type { SealedFile } from '../process/messages.ts';
import { addDeleteRow, addFileRow, moveSealed, removeDeleteRow, removeFileRow } from './catalog-rows.ts';
import { fileRowOf } from './file-row.ts';
import type { Delete } from './row-filter.ts';

export interface CatalogChanges {
  /** Lists files and sets S, both or neither. Throws aborted when S has already reached that position. */
  list(files: readonly SealedFile[], sealed: number, nowMs: number): Promise<void>;
  /** Replaces files with others in one step. Throws aborted when a replaced file is no longer listed. */
  replace(replaced: readonly string[], files: readonly SealedFile[], nowMs: number): Promise<void>;
  /** Hides matching rows, up to a position, from every snapshot opened after this (I10). */
  addDelete(
    organizationId: string,
    deletion: Delete,
    nowMs: number,
    /** Runs in the same transaction. */
    also?: (trx: Database) => Promise<void>,
  ): Promise<void>;
  /** Ends deletions that no remaining row matches. */
  endDeletions(ids: readonly number[]): Promise<void>;
}

export function catalogChanges(db: Database): CatalogChanges {
  return {
    async list(files, sealed, nowMs) {
      await db.transaction().execute(async (trx) => {
        for (const file of files) await addFileRow(trx, fileRowOf(file, nowMs));
        // The same positions must never be listed twice.
        if (!(await moveSealed(trx, sealed))) throw aborted(`rows up to position ${sealed} are already sealed`);
      });
    },
    async replace(replaced, files, nowMs) {
      await db.transaction().execute(async (trx) => {
        for (const file of replaced) {
          // Its rows are in another file now; they must never be listed twice.
          if ((await removeFileRow(trx, file)) === undefined) throw aborted(`${file} is no longer listed`);
        }
        for (const file of files) await addFileRow(trx, fileRowOf(file, nowMs));
      });
    },
    async addDelete(organizationId, { predicate, upTo }, nowMs, also) {
      const row = {
        organization_id: organizationId,
        predicate: JSON.stringify(predicate),
        up_to: upTo,
        created_ms: nowMs,
      };
      await db.transaction().execute(async (trx) => {
        await addDeleteRow(trx, row);
        await noteRecentDelete(trx, row);
        await also?.(trx);
      });
    },
    async endDeletions(ids) {
      await db.transaction().execute(async (trx) => {
        for (const id of ids) await removeDeleteRow(trx, id);
      });
    },
  };
}
