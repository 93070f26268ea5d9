/** What counts: listed files, S and deletions, read as one snapshot and changed in one transaction (I7, I9, I10). */
import { PlatformError } from '@platform/base';
import { type Kysely, sql } from 'kysely';
import type { CloudTables, Database } from '../../metadata/tables.ts';
import type { ListedRanges } from '../deletion/coverage.ts';
import { noteRecentDelete } from '../deletion/recent-deletes.ts';
import {
  type CatalogFinding,
  isDeleteRowRight,
  isFileRowRight,
  proofFindings,
  stateFindings,
} from '../integrity/catalog-findings.ts';
import { findingsOf } from '../integrity/read-damage.ts';
import type { FileRow } from '../integrity/row-checksum.ts';
import type { FileChecksum, FileRef, SealedFile } from '../process/messages.ts';
import { largeRows } from '../query/large-rows.ts';
import { addChecksum, addDeleteRow, addFileRow, moveSealed, removeDeleteRow, removeFileRow } from './catalog-rows.ts';
import { deleteOfText, fileOfText, proofOfText, readSnapshot, stateOfText } from './read-snapshot.ts';
import type { Delete, DeletePredicate, FileRanges, HeldTimes } from './row-filter.ts';
import type { PathSets } from './series.ts';

export interface CatalogFile extends FileRef, FileRanges {
  readonly timeReceived: HeldTimes;
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
  readonly timeReceived: HeldTimes;
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
  /** S, the files and the deletions of an organization, as of one instant. Throws data_loss when a row was changed, removed or added. */
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
  /** Of a file of a version before, once it was read completely. False: it is not listed, or has one. */
  addChecksum(file: string, checksum: FileChecksum): Promise<boolean>;
  /** Undefined: it is not listed. */
  listed(file: string): Promise<FileRef | undefined>;
  /** Of the files that were not read completely since then, the one that waits longest, without those named. */
  dueForScrub(beforeMs: number, except: ReadonlySet<string>): Promise<FileRef | undefined>;
  /** What is wrong with the rows of all organizations. */
  findings(): Promise<readonly CatalogFinding[]>;
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

  // A row with the text of one that was right is right.
  const right = new Map<string, { readonly file: CatalogFile; readonly row: FileRow }>();
  const fileOf = (text: string): { readonly file: CatalogFile; readonly row: FileRow } | string => {
    const known = right.get(text);
    if (known !== undefined) return known;
    const row = fileOfText(text);
    if (!isFileRowRight(row)) return `the row of file ${row.file} was changed`;
    const file: CatalogFile = {
      ...refOf(row),
      logicalBytes: row.logical_bytes,
      pathSets: pathSets(row.file, row.path_sets),
      timeReceived: { min: row.min_time_received, max: row.max_time_received },
      timeRequested: { min: row.min_time_requested, max: row.max_time_requested },
    };
    const read = { file, row };
    if (right.size >= 20_000) right.clear();
    right.set(text, read);
    return read;
  };

  return {
    async open(organizationId) {
      const texts = await readSnapshot(db, organizationId);
      const state = texts.state.map(stateOfText);
      const read = texts.files.map(fileOf);
      const files = read.filter((each) => typeof each !== 'string');
      const deletes = texts.deletes.map(deleteOfText);
      const proof = texts.proofs.map(proofOfText)[0];
      const wrong = [
        ...stateFindings(state),
        ...read.filter((each) => typeof each === 'string'),
        ...deletes.filter((row) => !isDeleteRowRight(row)).map((row) => `the row of deletion ${row.id} was changed`),
      ];
      if (wrong.length === 0)
        wrong.push(
          ...proofFindings(
            proof,
            files.map(({ row }) => row),
            deletes,
          ),
        );
      if (wrong.length > 0) throw damagedCatalog(wrong);
      return {
        sealed: state[0]?.sealed_position ?? 0,
        // The day of a file is in its name and column, so the oldest data comes first and answers have a steady order.
        files: files.map(({ file }) => file).sort((a, b) => (a.file < b.file ? -1 : 1)),
        deletes: deletes.map((row) => ({ predicate: JSON.parse(row.predicate) as DeletePredicate, upTo: row.up_to })),
      };
    },
    async sealedPosition() {
      const state = await db.selectFrom('tabular_state').selectAll().execute();
      const wrong = stateFindings(state);
      if (wrong.length > 0) throw damagedCatalog(wrong);
      return state[0]?.sealed_position ?? 0;
    },
    async list(files, sealed, nowMs) {
      await db.transaction().execute(async (trx) => {
        for (const file of files) await addFileRow(trx, fileRowOf(file, nowMs));
        // The same positions must never be listed twice.
        if (!(await moveSealed(trx, sealed)))
          throw new PlatformError('aborted', `rows up to position ${sealed} are already sealed`);
      });
    },
    async mergeable({ files, smallBytes, totalBytes }, except = new Set()) {
      const small = db
        .selectFrom('tabular_files')
        .where('logical_bytes', '<', smallBytes)
        // A file of large rows is as full as it gets.
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
    async replace(replaced, files, nowMs) {
      await db.transaction().execute(async (trx) => {
        for (const file of replaced) {
          // Its rows are in another file by now: they must never be listed twice.
          if ((await removeFileRow(trx, file)) === undefined)
            throw new PlatformError('aborted', `${file} is no longer listed`);
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
      return requireRight(rows).map((row) => ({
        ...refOf(row),
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
        .selectAll()
        .where('format', '<', format)
        .orderBy('capture_day', 'desc')
        .orderBy('file')
        .execute();
      return requireRight(rows).map(refOf);
    },
    async deletions(organizationId) {
      const rows = await db
        .selectFrom('tabular_deletes')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .orderBy('id')
        .execute();
      const wrong = rows
        .filter((row) => !isDeleteRowRight(row))
        .map(({ id }) => `the row of deletion ${id} was changed`);
      if (wrong.length > 0) throw damagedCatalog(wrong);
      return rows.map((row) => ({
        id: row.id,
        predicate: JSON.parse(row.predicate) as DeletePredicate,
        upTo: row.up_to,
      }));
    },
    async endDeletions(ids) {
      await db.transaction().execute(async (trx) => {
        for (const id of ids) await removeDeleteRow(trx, id);
      });
    },
    async addChecksum(file, checksum) {
      return await db.transaction().execute((trx) => addChecksum(trx, file, checksum));
    },
    async listed(file) {
      const row = await db.selectFrom('tabular_files').selectAll().where('file', '=', file).executeTakeFirst();
      return row === undefined ? undefined : refOf(row);
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
    findings: () => findingsOf(db),
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

function refOf(row: FileRow): FileRef {
  return {
    file: row.file,
    format: row.format,
    captureDay: row.capture_day,
    timeReceived: { min: row.min_time_received, max: row.max_time_received },
    expected: { bytes: row.file_bytes, sha256: row.sha256, blockCrcs: row.block_crcs },
  };
}

/** What the catalog says of a file. */
export function fileRowOf(file: SealedFile, nowMs: number): Omit<FileRow, 'row_check'> {
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
    sha256: file.checksum.sha256,
    block_crcs: file.checksum.blockCrcs,
  };
}

function damagedCatalog(wrong: readonly string[]): PlatformError {
  const more = wrong.length > 1 ? `, and ${wrong.length - 1} more` : '';
  return new PlatformError(
    'data_loss',
    `the catalog of sealed readings is damaged (${wrong[0]}${more}): no partial answers are given. The host administrator can find all damage with platform admin doctor --deep and repair it with platform admin repair`,
  );
}

function requireRight(rows: readonly FileRow[]): readonly FileRow[] {
  const wrong = rows.filter((row) => !isFileRowRight(row)).map(({ file }) => `the row of file ${file} was changed`);
  if (wrong.length > 0) throw damagedCatalog(wrong);
  return rows;
}
