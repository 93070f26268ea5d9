/** Tables of the tabular store in meta.sqlite: listed Parquet files, the sealed position of the log, deletions and scanned bytes. */
import type { Generated } from 'kysely';
import { type CheckedTable, checkedIn } from '../metadata/row-checks/checked-table.ts';
import type { Schema } from '../metadata/sqlite/writer-protocol.ts';

/** One sealed file. A file that is not listed here does not exist (I9). */
export interface TabularFilesTable {
  /** Name below parquet/. */
  file: string;
  organization_id: string;
  /** UTC day "YYYY-MM-DD". */
  capture_day: string;
  /** Layout of the columns; readers refuse unknown formats. */
  format: number;
  rows: number;
  /** BSON bytes of its row documents; metered for a query that reads the whole file. */
  logical_bytes: number;
  file_bytes: number;
  min_position: number;
  max_position: number;
  /** Microseconds; null when no row has the time. */
  min_time_received: number | null;
  max_time_received: number | null;
  min_time_requested: number | null;
  max_time_requested: number | null;
  /** JSON: {location_id: [...], robot_id: [...], part_id: [...], component_type: [...], component_name: [...], method_name: [...]}. */
  path_sets: string;
  created_ms: number;
  /** SHA-256 of the whole file, hexadecimal. */
  sha256: string;
  /** CRC-32 of each MiB of the file, 8 hexadecimal digits each, in order. */
  block_crcs: string;
  /** Checksum of the columns above (row-checksum.ts). */
  row_check: string;
  /** The set that it is proven with (proof-days.ts), which follows from the columns above. */
  proof_day: string;
}

/** One row, id 1. */
export interface TabularStateTable {
  id: number;
  /** S: every row at a position up to here is in a listed file. */
  sealed_position: number;
  row_check: string;
}

/** A deletion applies to every snapshot opened after it, for positions up to up_to, in files, hot rows and replay (I10). */
export interface TabularDeletesTable {
  id: Generated<number>;
  organization_id: string;
  /** JSON DeletePredicate; {} covers every row of the organization. */
  predicate: string;
  up_to: number;
  created_ms: number;
  /** Null only within the transaction that inserts it, because it covers the generated id. */
  row_check: string | null;
}

/**
 * Deletions by people within the time in which uploads are recognised by their content (D13), even if the rows have been removed from the
 * disk. No query reads it.
 */
export type TabularRecentDeletesTable = Omit<TabularDeletesTable, 'row_check'>;

/** Number of rows of an organization in the files and deletes tables, and the sum of their checksums; reveals missing and added rows. */
export interface TabularProofsTable {
  organization_id: string;
  files: number;
  files_sum: string;
  deletes: number;
  deletes_sum: string;
}

/** The same for the files of each set, so that a query proves only those that it touches. */
export interface TabularDayProofsTable {
  organization_id: string;
  proof_day: string;
  files: number;
  files_sum: string;
}

/** A copy of each row of the first three tables, so that a repair can tell which of the two was damaged. No query reads it. */
export interface TabularCopiesTable {
  /** `file <name>`, `delete <id>` or `state`. */
  name: string;
  organization_id: string;
  /** JSON: the values that the row's checksum covers. */
  row: string;
}

/** Findings about a file on the disk. No answer depends on them. */
export interface TabularHealthTable {
  file: string;
  /** When the file was last read completely and was intact; null: not since it was sealed. */
  verified_ms: number | null;
  /** Since when the file is known to be damaged or missing; null: it is neither. */
  damaged_ms: number | null;
  damage: string | null;
}

/** Logical bytes scanned by an organization in a UTC month (D26). */
export interface TabularUsageTable {
  organization_id: string;
  /** "YYYY-MM". */
  month: string;
  scanned_bytes: number;
  queries: number;
}

export interface TabularTables {
  tabular_files: TabularFilesTable;
  tabular_state: TabularStateTable;
  tabular_deletes: TabularDeletesTable;
  tabular_recent_deletes: TabularRecentDeletesTable;
  tabular_proofs: TabularProofsTable;
  tabular_day_proofs: TabularDayProofsTable;
  tabular_copies: TabularCopiesTable;
  tabular_health: TabularHealthTable;
  tabular_usage: TabularUsageTable;
}

const statements: readonly string[] = [
  `create table tabular_files (
      file text primary key,
      organization_id text not null,
      capture_day text not null,
      format integer not null,
      rows bigint not null,
      logical_bytes bigint not null,
      file_bytes bigint not null,
      min_position bigint not null,
      max_position bigint not null,
      min_time_received bigint,
      max_time_received bigint,
      min_time_requested bigint,
      max_time_requested bigint,
      path_sets text not null,
      created_ms bigint not null,
      sha256 text not null,
      block_crcs text not null,
      proof_day text not null,
      row_check text not null
    )`,
  'create index tabular_files_by_day on tabular_files (organization_id, capture_day)',
  'create index tabular_files_by_proof_day on tabular_files (organization_id, proof_day)',
  'create table tabular_state (id integer primary key, sealed_position bigint not null, row_check text not null)',
  // The checksum and the copy are those of position 0 (integrity/row-checksum.ts).
  "insert into tabular_state (id, sealed_position, row_check) values (1, 0, '2233592815fe61981af9fabbd9d944da')",
  `create table tabular_deletes (
      id integer primary key,
      organization_id text not null,
      predicate text not null,
      up_to bigint not null,
      created_ms bigint not null,
      row_check text
    )`,
  'create index tabular_deletes_by_organization on tabular_deletes (organization_id)',
  `create table tabular_recent_deletes (
      id integer primary key,
      organization_id text not null,
      predicate text not null,
      up_to bigint not null,
      created_ms bigint not null
    )`,
  'create index tabular_recent_deletes_by_organization on tabular_recent_deletes (organization_id)',
  `create table tabular_proofs (
      organization_id text primary key,
      files bigint not null,
      files_sum text not null,
      deletes bigint not null,
      deletes_sum text not null
    )`,
  `create table tabular_day_proofs (
      organization_id text not null,
      proof_day text not null,
      files bigint not null,
      files_sum text not null,
      primary key (organization_id, proof_day)
    )`,
  'create table tabular_copies (name text primary key, organization_id text not null, row text not null)',
  `insert into tabular_copies (name, organization_id, row) values ('state', '', '["state",0]')`,
  `create table tabular_health (
      file text primary key,
      verified_ms bigint,
      damaged_ms bigint,
      damage text
    )`,
  `create table tabular_usage (
      organization_id text not null,
      month text not null,
      scanned_bytes bigint not null,
      queries bigint not null,
      row_check text,
      primary key (organization_id, month)
    )`,
];

const checked = checkedIn(statements);

/** All months of an organization are a set. */
export const queryUsage: CheckedTable = checked('tabular_usage', 'queries of organization', {
  owner: 'organization_id',
});

/** For tools that read a store directly. */
export const sealedPositionSql = 'select sealed_position as position from tabular_state';

export const tabularSchema: Schema = {
  statements,
  checked: [queryUsage],
};
