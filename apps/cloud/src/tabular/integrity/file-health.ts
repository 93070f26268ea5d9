/**
 * Which sealed files are damaged or missing, and since when. Queries, merges and scrubs report it; the catalog stores it; it is logged
 * once.
 */
import type { Clock, Log } from '@platform/base';
import type { Database } from '../../metadata/tables.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { FoundFile } from '../process/messages.ts';
import { fileIsMissing } from './damaged-file.ts';
import { type DamagedFile, damagedFiles } from './read-damage.ts';

export interface FileHealth {
  /** @param complete the whole file was read */
  found(file: string, found: FoundFile, complete?: boolean): Promise<void>;
  damaged(): Promise<readonly DamagedFile[]>;
}

/** Records that a damaged file was restored with its original content. */
export async function noteRestored(trx: Database, file: string, nowMs: number): Promise<void> {
  await trx
    .updateTable('tabular_health')
    .set({ verified_ms: nowMs, damaged_ms: null, damage: null })
    .where('file', '=', file)
    .execute();
}

export function createFileHealth(deps: {
  readonly db: Database;
  readonly catalog: Pick<Catalog, 'isListed'>;
  readonly clock: Clock;
  readonly log: Log;
}): FileHealth {
  const { db, catalog, clock, log } = deps;

  const store = async (
    file: string,
    values: { verified_ms?: number; damaged_ms: number | null; damage: string | null },
  ): Promise<void> => {
    await db
      .insertInto('tabular_health')
      .values({ file, verified_ms: null, ...values })
      .onConflict((conflict) => conflict.column('file').doUpdateSet(values))
      .execute();
  };

  return {
    async found(file, found, complete = false) {
      if (found.kind === 'unknown' || !(await catalog.isListed(file))) return;
      const before = await db.selectFrom('tabular_health').selectAll().where('file', '=', file).executeTakeFirst();
      const sinceMs = before?.damaged_ms ?? null;
      if (found.kind === 'right') {
        if (sinceMs !== null) log.info('a damaged file of readings is intact again', { file });
        if (complete || sinceMs !== null)
          await store(file, { ...(complete && { verified_ms: clock.now() }), damaged_ms: null, damage: null });
        return;
      }
      const reason = found.kind === 'missing' ? fileIsMissing : found.reason;
      if (sinceMs === null || before?.damage !== reason)
        log.error('a file of readings is damaged; queries that need it fail until platform admin repair restores it', {
          file,
          reason,
        });
      await store(file, { damaged_ms: sinceMs ?? clock.now(), damage: reason });
    },
    damaged: () => damagedFiles(db),
  };
}
