/** What counts: listed files, S and deletions, read as one snapshot and changed in one transaction (I7, I9, I10). */
import { PlatformError } from '@platform/base';
import { type Kysely, sql } from 'kysely';
import type { CloudTables, Database } from '../metadata/tables.ts';
import type { ListedRanges } from './coverage.ts';
import type { FileRef, SealedFile } from './process/messages.ts';
import type { Delete, DeletePredicate, FileRanges } from './row-filter.ts';
import type { PathSets } from './series.ts';

export interface CatalogFile extends FileRef, FileRanges {
  readonly logicalBytes: number;
}

export interface CatalogSnapshot {
  /** S. */
  readonly sealed: number;
  readonly files: readonly CatalogFile[];
  readonly deletes: readonly Delete[];
}

/** A listed file as far as deletions ask for it. */
export interface ListedFile extends FileRef, ListedRanges {
  readonly rows: number;
  readonly logicalBytes: number;
}

export interface ListedDelete extends Delete {
  readonly id: number;
}

export interface CatalogTotals {
  readonly files: number;
  readonly fileRows: number;
  readonly fileBytes: number;
}

export interface Catalog {
  /** S, the files and the deletions of an organization, as of one instant. */
  open(organizationId: string): Promise<CatalogSnapshot>;
  sealedPosition(): Promise<number>;
  /** Lists files and sets S, both or neither. Throws aborted when S is there already. */
  list(files: readonly SealedFile[], sealed: number, nowMs: number): Promise<void>;
  /** Small files of one organization and day that are worth merging, oldest first, without those named; empty when there are none. */
  mergeable(
    limit: { readonly files: number; readonly smallBytes: number; readonly totalBytes: number },
    except?: ReadonlySet<string>,
  ): Promise<FileRef[]>;
  /** Lists files in place of others, in one step. Throws aborted when one of those is not listed any more. */
  replace(replaced: readonly string[], files: readonly SealedFile[], nowMs: number): Promise<void>;
  /** Rows that match are invisible to every snapshot opened after this, up to a position (I10). */
  addDelete(
    organizationId: string,
    deletion: Delete,
    nowMs: number,
    /** Runs in the same transaction. */
    also?: (trx: Kysely<CloudTables>) => Promise<void>,
  ): Promise<void>;
  fileNames(): Promise<ReadonlySet<string>>;
  isListed(file: string): Promise<boolean>;
  /** Of those that have files. */
  organizations(): Promise<readonly string[]>;
  /** By day, then name. */
  listedFiles(organizationId: string): Promise<readonly ListedFile[]>;
  /** Listed in a format before this one, in all organizations; the newest days first. */
  olderFiles(format: number): Promise<readonly FileRef[]>;
  deletions(organizationId: string): Promise<readonly ListedDelete[]>;
  /** No row that they cover is left anywhere. */
  endDeletions(ids: readonly number[]): Promise<void>;
  totals(): Promise<CatalogTotals>;
}

export function createCatalog(db: Database): Catalog {
  // Files never change, so what was parsed once stays right.
  const parsed = new Map<string, PathSets>();
  const pathSets = (file: string, json: string): PathSets => {
    let sets = parsed.get(file);
    if (sets === undefined) {
      sets = JSON.parse(json) as PathSets;
      if (parsed.size >= 20_000) parsed.clear();
      parsed.set(file, sets);
    }
    return sets;
  };

  return {
    async open(organizationId) {
      // One statement is one snapshot, in SQLite and Postgres alike.
      const rows = await db
        .selectFrom('tabular_state')
        .where('id', '=', 1)
        .select([
          sql<'state' | 'file' | 'delete'>`'state'`.as('kind'),
          'sealed_position as number',
          sql<string>`''`.as('name'),
          sql<string>`''`.as('day'),
          sql<number>`0`.as('format'),
          sql<string>`''`.as('json'),
          sql<number | null>`cast(null as bigint)`.as('min_received'),
          sql<number | null>`cast(null as bigint)`.as('max_received'),
          sql<number | null>`cast(null as bigint)`.as('min_requested'),
          sql<number | null>`cast(null as bigint)`.as('max_requested'),
        ])
        .unionAll(
          db
            .selectFrom('tabular_files')
            .where('organization_id', '=', organizationId)
            .select([
              sql<'state' | 'file' | 'delete'>`'file'`.as('kind'),
              'logical_bytes as number',
              'file as name',
              'capture_day as day',
              'format',
              'path_sets as json',
              'min_time_received as min_received',
              'max_time_received as max_received',
              'min_time_requested as min_requested',
              'max_time_requested as max_requested',
            ]),
        )
        .unionAll(
          db
            .selectFrom('tabular_deletes')
            .where('organization_id', '=', organizationId)
            .select([
              sql<'state' | 'file' | 'delete'>`'delete'`.as('kind'),
              'up_to as number',
              sql<string>`''`.as('name'),
              sql<string>`''`.as('day'),
              sql<number>`0`.as('format'),
              'predicate as json',
              sql<number | null>`cast(null as bigint)`.as('min_received'),
              sql<number | null>`cast(null as bigint)`.as('max_received'),
              sql<number | null>`cast(null as bigint)`.as('min_requested'),
              sql<number | null>`cast(null as bigint)`.as('max_requested'),
            ]),
        )
        .execute();
      const files = rows
        .filter((row) => row.kind === 'file')
        .map((row) => ({
          file: row.name,
          format: row.format,
          captureDay: row.day,
          logicalBytes: row.number,
          pathSets: pathSets(row.name, row.json),
          timeReceived: { min: row.min_received, max: row.max_received },
          timeRequested: { min: row.min_requested, max: row.max_requested },
        }));
      const deletes = rows
        .filter((row) => row.kind === 'delete')
        .map((row) => ({ predicate: JSON.parse(row.json) as DeletePredicate, upTo: row.number }));
      // The day of a file is in its name and column, so the oldest data comes first and answers have a steady order.
      files.sort((a, b) => (a.file < b.file ? -1 : 1));
      return { sealed: rows.find((row) => row.kind === 'state')?.number ?? 0, files, deletes };
    },
    async sealedPosition() {
      const row = await db
        .selectFrom('tabular_state')
        .select('sealed_position')
        .where('id', '=', 1)
        .executeTakeFirstOrThrow();
      return row.sealed_position;
    },
    async list(files, sealed, nowMs) {
      await db.transaction().execute(async (trx) => {
        for (const file of files) await trx.insertInto('tabular_files').values(rowOf(file, nowMs)).execute();
        const moved = await trx
          .updateTable('tabular_state')
          .set({ sealed_position: sealed })
          .where('id', '=', 1)
          .where('sealed_position', '<', sealed)
          .executeTakeFirst();
        // The same positions must never be listed twice.
        if (moved.numUpdatedRows !== 1n)
          throw new PlatformError('aborted', `rows up to position ${sealed} are sealed already`);
      });
    },
    async mergeable({ files, smallBytes, totalBytes }, except = new Set()) {
      const small = db
        .selectFrom('tabular_files')
        .where('logical_bytes', '<', smallBytes)
        .$if(except.size > 0, (query) => query.where('file', 'not in', [...except]));
      const group = await small
        .select(['organization_id', 'capture_day'])
        .groupBy(['organization_id', 'capture_day'])
        .having(({ fn }) => fn.countAll<number>(), '>=', files)
        .limit(1)
        .executeTakeFirst();
      if (group === undefined) return [];
      const rows = await small
        .select(['file', 'format', 'capture_day', 'logical_bytes'])
        .where('organization_id', '=', group.organization_id)
        .where('capture_day', '=', group.capture_day)
        .orderBy('min_position')
        .execute();
      let bytes = 0;
      const fits = (row: { logical_bytes: number }): boolean => {
        bytes += row.logical_bytes;
        return bytes <= totalBytes;
      };
      return rows.filter(fits).map(refOf);
    },
    async replace(replaced, files, nowMs) {
      await db.transaction().execute(async (trx) => {
        for (const file of replaced) {
          const { numDeletedRows } = await trx.deleteFrom('tabular_files').where('file', '=', file).executeTakeFirst();
          // Its rows are in another file by now: they must never be listed twice.
          if (numDeletedRows !== 1n) throw new PlatformError('aborted', `${file} is not listed any more`);
        }
        for (const file of files) await trx.insertInto('tabular_files').values(rowOf(file, nowMs)).execute();
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
        await trx.insertInto('tabular_deletes').values(row).execute();
        await also?.(trx);
      });
    },
    async fileNames() {
      const rows = await db.selectFrom('tabular_files').select('file').execute();
      return new Set(rows.map((row) => row.file));
    },
    async isListed(file) {
      const row = await db.selectFrom('tabular_files').select('file').where('file', '=', file).executeTakeFirst();
      return row !== undefined;
    },
    async organizations() {
      const rows = await db.selectFrom('tabular_files').select('organization_id').distinct().execute();
      return rows.map((row) => row.organization_id);
    },
    async listedFiles(organizationId) {
      const rows = await db
        .selectFrom('tabular_files')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .orderBy('file')
        .execute();
      return rows.map((row) => ({
        file: row.file,
        format: row.format,
        captureDay: row.capture_day,
        pathSets: pathSets(row.file, row.path_sets),
        timeReceived: { min: row.min_time_received, max: row.max_time_received },
        positions: { min: row.min_position, max: row.max_position },
        rows: row.rows,
        logicalBytes: row.logical_bytes,
      }));
    },
    async olderFiles(format) {
      const rows = await db
        .selectFrom('tabular_files')
        .select(['file', 'format', 'capture_day'])
        .where('format', '<', format)
        .orderBy('capture_day', 'desc')
        .orderBy('file')
        .execute();
      return rows.map(refOf);
    },
    async deletions(organizationId) {
      const rows = await db
        .selectFrom('tabular_deletes')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .orderBy('id')
        .execute();
      return rows.map((row) => ({
        id: row.id,
        predicate: JSON.parse(row.predicate) as DeletePredicate,
        upTo: row.up_to,
      }));
    },
    async endDeletions(ids) {
      for (const id of ids) await db.deleteFrom('tabular_deletes').where('id', '=', id).execute();
    },
    async totals() {
      const row = await db
        .selectFrom('tabular_files')
        .select(({ fn }) => [
          fn.countAll<number>().as('files'),
          fn.sum<number | null>('rows').as('rows'),
          fn.sum<number | null>('file_bytes').as('bytes'),
        ])
        .executeTakeFirstOrThrow();
      return { files: Number(row.files), fileRows: Number(row.rows ?? 0), fileBytes: Number(row.bytes ?? 0) };
    },
  };
}

function refOf(row: { readonly file: string; readonly format: number; readonly capture_day: string }): FileRef {
  return { file: row.file, format: row.format, captureDay: row.capture_day };
}

function rowOf(file: SealedFile, nowMs: number) {
  return {
    file: file.file,
    organization_id: file.organizationId,
    capture_day: file.captureDay,
    format: file.format,
    rows: file.rows,
    logical_bytes: file.logicalBytes,
    file_bytes: file.fileBytes,
    min_position: file.minPosition,
    max_position: file.maxPosition,
    min_time_received: file.minTimeReceived,
    max_time_received: file.maxTimeReceived,
    min_time_requested: file.minTimeRequested,
    max_time_requested: file.maxTimeRequested,
    path_sets: JSON.stringify(file.pathSets),
    created_ms: nowMs,
  };
}
