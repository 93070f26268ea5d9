/**
 * Reads the catalog rows of an organization in one statement, which is one snapshot in both SQLite and Postgres. Each row arrives as one
 * text of its values, so that a row that was already verified is recognised by its text alone.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../metadata/tables.ts';
import { type DeleteRow, deleteColumns, type FileRow, fileColumns } from '../integrity/row-checksum.ts';
import type { TabularDayProofsTable, TabularProofsTable, TabularStateTable } from '../store.ts';
import { anyDay, type ProofDays } from './proof-days.ts';

interface SnapshotRows {
  readonly state: TabularStateTable;
  readonly files: FileRow;
  readonly deletes: DeleteRow;
  readonly proofs: TabularProofsTable;
  readonly days: Omit<TabularDayProofsTable, 'organization_id'>;
}

/** Rows as texts; `rowOfText` parses them. */
export type SnapshotTexts = Readonly<Record<keyof SnapshotRows, readonly string[]>>;

const columns: Readonly<Record<keyof SnapshotTexts, readonly string[]>> = {
  state: ['id', 'sealed_position', 'row_check'],
  files: [...fileColumns, 'row_check', 'proof_day'],
  deletes: [...deleteColumns, 'row_check'],
  proofs: ['organization_id', 'files', 'files_sum', 'deletes', 'deletes_sum'],
  days: ['proof_day', 'files', 'files_sum'],
};
const texts: ReadonlySet<string> = new Set([
  ...['file', 'organization_id', 'capture_day', 'path_sets', 'sha256', 'block_crcs', 'row_check', 'predicate'],
  ...['files_sum', 'deletes_sum', 'proof_day'],
]);
const nullable: ReadonlySet<string> = new Set([
  ...['min_time_received', 'max_time_received', 'min_time_requested', 'max_time_requested'],
  ...['sha256', 'block_crcs', 'row_check'],
]);

/** Occurs in none of the values, because JSON escapes it. */
const separator = '\u001f';

/** @param days reads the files of these days and of `anyDay`, with their proofs; undefined: all files */
export async function readSnapshot(
  db: Database,
  organizationId: string,
  days: ProofDays | undefined,
): Promise<SnapshotTexts> {
  const isOf = sql`organization_id = ${organizationId}`;
  const sets = days && [sql`proof_day = ${anyDay}`, sql`proof_day between ${days.from} and ${days.to}`];
  const files = (sets ?? [sql`1 = 1`]).map(
    (isIn) => sql`union all select 'files', ${textOf('files')} from tabular_files where ${isOf} and ${isIn}`,
  );
  const proofs = (sets ?? []).map(
    (isIn) => sql`union all select 'days', ${textOf('days')} from tabular_day_proofs where ${isOf} and ${isIn}`,
  );
  const { rows } = await sql<{ kind: keyof SnapshotTexts; row: string }>`
    select 'state' as kind, ${textOf('state')} as row from tabular_state
    ${sql.join(files, sql` `)}
    union all select 'deletes', ${textOf('deletes')} from tabular_deletes where ${isOf}
    union all select 'proofs', ${textOf('proofs')} from tabular_proofs where ${isOf}
    ${sql.join(proofs, sql` `)}
  `.execute(db);
  const found: Record<keyof SnapshotTexts, string[]> = { state: [], files: [], deletes: [], proofs: [], days: [] };
  for (const { kind, row } of rows) found[kind].push(row);
  return found;
}

/** A value that is not a number becomes NaN, a missing one undefined; the row's checksum then does not match. */
export function rowOfText<Kind extends keyof SnapshotTexts>(kind: Kind, text: string): SnapshotRows[Kind] {
  const values = text.split(separator);
  const row: Readonly<Record<string, string | number | null | undefined>> = Object.fromEntries(
    columns[kind].map((column, at) => {
      const value = values[at];
      if (value === '' && nullable.has(column)) return [column, null];
      if (value === undefined || texts.has(column)) return [column, value];
      return [column, /^-?\d+$/.test(value) ? Number(value) : Number.NaN];
    }),
  );
  return row as unknown as SnapshotRows[Kind];
}

function textOf(kind: keyof SnapshotTexts): RawBuilder<string> {
  const values = columns[kind].map((column) => sql`coalesce(cast(${sql.ref(column)} as text), '')`);
  return sql<string>`${sql.join(values, sql` || ${sql.lit(separator)} || `)}`;
}
