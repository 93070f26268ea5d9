/** Chooses the listed files that need background work: merging or scrubbing. */
import { sql } from 'kysely';
import type { Database } from '../../metadata/tables.ts';
import { isFileRowRight } from '../integrity/catalog-findings.ts';
import type { FileRef } from '../process/messages.ts';
import { largeRows } from '../query/large-rows.ts';
import { refOf, requireRight } from './file-row.ts';

export interface FileChoices {
  /** Small files of one organization and day that are worth merging, oldest first, except the given ones; empty when there are none. */
  mergeable(
    limit: { readonly files: number; readonly smallBytes: number; readonly totalBytes: number },
    except?: ReadonlySet<string>,
  ): Promise<FileRef[]>;
  /** Of the files not read completely since then, the one that has waited longest, except the given ones. */
  dueForScrub(beforeMs: number, except: ReadonlySet<string>): Promise<FileRef | undefined>;
}

export function fileChoices(db: Database): FileChoices {
  return {
    async mergeable({ files, smallBytes, totalBytes }, except = new Set()) {
      const small = db
        .selectFrom('tabular_files')
        .where('logical_bytes', '<', smallBytes)
        // A file of large rows is considered full.
        .where((on) =>
          on.or([
            on('logical_bytes', '<', largeRows.fileBytes / 4),
            on('logical_bytes', '<', sql<number>`rows * ${sql.lit(largeRows.rowBytes)}`),
          ]),
        )
        .$if(except.size > 0, (query) => query.where('file', 'not in', [...except]));
      const group = await small
        .select(['organization_id', 'capture_day'])
        .groupBy(['organization_id', 'capture_day'])
        .having(({ fn }) => fn.countAll<number>(), '>=', files)
        .limit(1)
        .executeTakeFirst();
      if (group === undefined) return [];
      const rows = await small
        .selectAll()
        .where('organization_id', '=', group.organization_id)
        .where('capture_day', '=', group.capture_day)
        .orderBy('min_position')
        .execute();
      let bytes = 0;
      const fits = (row: { logical_bytes: number }): boolean => {
        bytes += row.logical_bytes;
        return bytes <= totalBytes;
      };
      return requireRight(rows.filter(fits)).map(refOf);
    },
    async dueForScrub(beforeMs, except) {
      const rows = await db
        .selectFrom('tabular_files')
        .leftJoin('tabular_health', 'tabular_health.file', 'tabular_files.file')
        .selectAll('tabular_files')
        .where((eb) => eb.fn.coalesce('tabular_health.verified_ms', 'tabular_files.created_ms'), '<', beforeMs)
        .$if(except.size > 0, (query) => query.where('tabular_files.file', 'not in', [...except]))
        .orderBy((eb) => eb.fn.coalesce('tabular_health.verified_ms', 'tabular_files.created_ms'))
        .limit(10)
        .execute();
      const row = rows.find(isFileRowRight);
      return row === undefined ? undefined : refOf(row);
    },
  };
}
