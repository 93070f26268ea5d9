/** Reads the catalog: all rows of an organization as one snapshot, or single rows and totals. */
import type { Database } from '../../metadata/tables.ts';
import type { ListedRanges } from '../deletion/coverage.ts';
import {
  type CatalogFinding,
  dayFindings,
  deleteFindings,
  fileFindings,
  isDeleteRowRight,
  isFileRowRight,
  stateFindings,
} from '../integrity/catalog-findings.ts';
import { findingsOf } from '../integrity/read-damage.ts';
import type { DeleteRow, FileRow } from '../integrity/row-checksum.ts';
import type { FileRef } from '../process/messages.ts';
import { damagedCatalog, refOf, requireRight } from './file-row.ts';
import { type ProofDays, proofDayOf } from './proof-days.ts';
import { readSnapshot, rowOfText } from './read-snapshot.ts';
import type { Delete, DeletePredicate, FileRanges, HeldTimes } from './row-filter.ts';
import type { PathSets } from './series.ts';

export interface CatalogFile extends FileRef, FileRanges {
  readonly timeReceived: HeldTimes;
  readonly logicalBytes: number;
}

export interface CatalogSnapshot {
  /** S. */
  readonly sealed: number;
  /** How many files the organization has, of which `files` may be some. */
  readonly allFiles: number;
  readonly files: readonly CatalogFile[];
  readonly deletes: readonly Delete[];
}

/** The fields of a listed file that deletions need. */
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

export interface CatalogReader {
  /**
   * S, the files and the deletions of an organization at one instant. Throws data_loss when a row was changed, removed or added.
   * @param days leaves out files of other days; undefined: all files
   */
  open(organizationId: string, days: ProofDays | undefined): Promise<CatalogSnapshot>;
  sealedPosition(): Promise<number>;
  fileNames(): Promise<ReadonlySet<string>>;
  isListed(file: string): Promise<boolean>;
  /** Ids of the organizations that have files. */
  organizations(): Promise<readonly string[]>;
  /** Sorted by day, then name. */
  listedFiles(organizationId: string): Promise<readonly ListedFile[]>;
  deletions(organizationId: string): Promise<readonly ListedDelete[]>;
  totals(): Promise<CatalogTotals>;
  /** Undefined if the file is not listed. */
  listed(file: string): Promise<FileRef | undefined>;
  /** Problems in the catalog rows of all organizations. */
  findings(): Promise<readonly CatalogFinding[]>;
}

export function catalogReader(db: Database): CatalogReader {
  const pathSets = pathSetsCache();
  const fileOf = fileCache(pathSets);
  return {
    async open(organizationId, days) {
      const texts = await readSnapshot(db, organizationId, days);
      const state = texts.state.map((text) => rowOfText('state', text));
      const read = texts.files.map(fileOf);
      const files = read.filter((each) => typeof each !== 'string');
      const deletes = texts.deletes.map((text) => rowOfText('deletes', text));
      const proof = texts.proofs.map((text) => rowOfText('proofs', text))[0];
      const wrong = [
        ...stateFindings(state),
        ...read.filter((each) => typeof each === 'string'),
        ...changedDeletes(deletes),
      ];
      const rows = files.map(({ row }) => row);
      const ofDays =
        days &&
        dayFindings(
          texts.days.map((text) => rowOfText('days', text)),
          rows,
        );
      if (wrong.length === 0) wrong.push(...(ofDays ?? fileFindings(proof, rows)), ...deleteFindings(proof, deletes));
      if (wrong.length > 0) throw damagedCatalog(wrong);
      return {
        sealed: state[0]?.sealed_position ?? 0,
        allFiles: proof?.files ?? 0,
        // A file name starts with its day, so this order puts the oldest data first and keeps answers stable.
        files: files.map(({ file }) => file).sort((a, b) => (a.file < b.file ? -1 : 1)),
        deletes: deletes.map(deletionOf),
      };
    },
    async sealedPosition() {
      const state = await db.selectFrom('tabular_state').selectAll().execute();
      const wrong = stateFindings(state);
      if (wrong.length > 0) throw damagedCatalog(wrong);
      return state[0]?.sealed_position ?? 0;
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
        pathSets: pathSets(row),
        positions: { min: row.min_position, max: row.max_position },
        rows: row.rows,
        logicalBytes: row.logical_bytes,
      }));
    },
    async deletions(organizationId) {
      const rows = await db
        .selectFrom('tabular_deletes')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .orderBy('id')
        .execute();
      const wrong = changedDeletes(rows);
      if (wrong.length > 0) throw damagedCatalog(wrong);
      return rows.map((row) => ({ id: row.id, ...deletionOf(row) }));
    },
    async listed(file) {
      const row = await db.selectFrom('tabular_files').selectAll().where('file', '=', file).executeTakeFirst();
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

function changedDeletes(rows: readonly DeleteRow[]): readonly string[] {
  return rows.filter((row) => !isDeleteRowRight(row)).map(({ id }) => `the row of deletion ${id} was changed`);
}

function deletionOf({ predicate, up_to: upTo }: DeleteRow): Delete {
  return { predicate: JSON.parse(predicate) as DeletePredicate, upTo };
}

/** Files never change, so parsed path sets stay valid. */
function pathSetsCache(): (row: FileRow) => PathSets {
  const parsed = new Map<string, PathSets>();
  return ({ file, path_sets: json }) => {
    let sets = parsed.get(file);
    if (sets === undefined) {
      sets = JSON.parse(json) as PathSets;
      if (parsed.size >= 20_000) parsed.clear();
      parsed.set(file, sets);
    }
    return sets;
  };
}

interface ReadFile {
  readonly file: CatalogFile;
  readonly row: FileRow;
}

/** Parses the text of a row, or returns what is wrong with it. A text that was valid once stays valid. */
function fileCache(pathSets: (row: FileRow) => PathSets): (text: string) => ReadFile | string {
  const right = new Map<string, ReadFile>();
  return (text) => {
    const known = right.get(text);
    if (known !== undefined) return known;
    const row = rowOfText('files', text);
    if (!isFileRowRight(row) || row.proof_day !== proofDayOf(row)) return `the row of file ${row.file} was changed`;
    const timeRequested = { min: row.min_time_requested, max: row.max_time_requested };
    const file = { ...refOf(row), logicalBytes: row.logical_bytes, pathSets: pathSets(row), timeRequested };
    if (right.size >= 20_000) right.clear();
    right.set(text, { file, row });
    return { file, row };
  };
}
