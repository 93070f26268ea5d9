/** The rows of the catalog that concern an organization, in one statement: that is one snapshot, in SQLite and Postgres alike. */
import { PlatformError } from '@platform/base';
import { sql } from 'kysely';
import type { Database } from '../metadata/tables.ts';
import type { CatalogRows } from './catalog-findings.ts';

interface Row {
  readonly kind: 'state' | 'file' | 'delete' | 'proof';
  readonly name: string;
  readonly n1: number;
  readonly n2: number;
  readonly n3: number;
  readonly n4: number;
  readonly n5: number;
  readonly n6: number;
  readonly t1: number | null;
  readonly t2: number | null;
  readonly t3: number | null;
  readonly t4: number | null;
  readonly day: string;
  readonly json: string;
  readonly text1: string | null;
  readonly text2: string | null;
  readonly row_check: string | null;
  readonly created_ms: number;
}

/** @throws data_loss when a number is none. */
export async function readSnapshot(db: Database, organizationId: string): Promise<CatalogRows> {
  const rows = await read(db, organizationId);
  return {
    state: rows
      .filter(({ kind }) => kind === 'state')
      .map((row) => ({ id: row.n1, sealed_position: row.n2, row_check: row.row_check })),
    files: rows
      .filter(({ kind }) => kind === 'file')
      .map((row) => ({
        file: row.name,
        organization_id: organizationId,
        capture_day: row.day,
        format: row.n1,
        rows: row.n2,
        logical_bytes: row.n3,
        file_bytes: row.n4,
        min_position: row.n5,
        max_position: row.n6,
        min_time_received: row.t1,
        max_time_received: row.t2,
        min_time_requested: row.t3,
        max_time_requested: row.t4,
        path_sets: row.json,
        created_ms: row.created_ms,
        sha256: row.text1,
        block_crcs: row.text2,
        row_check: row.row_check,
      })),
    deletes: rows
      .filter(({ kind }) => kind === 'delete')
      .map((row) => ({
        id: row.n1,
        organization_id: organizationId,
        predicate: row.json,
        up_to: row.n2,
        created_ms: row.created_ms,
        row_check: row.row_check,
      })),
    proofs: rows
      .filter(({ kind }) => kind === 'proof')
      .map((row) => ({
        organization_id: organizationId,
        files: row.n1,
        files_sum: row.text1 ?? '',
        deletes: row.n2,
        deletes_sum: row.text2 ?? '',
      })),
  };
}

async function read(db: Database, organizationId: string): Promise<readonly Row[]> {
  try {
    const { rows } = await sql<Row>`
      select 'state' as kind, '' as name, id as n1, sealed_position as n2, 0 as n3, 0 as n4, 0 as n5, 0 as n6,
        cast(null as bigint) as t1, cast(null as bigint) as t2, cast(null as bigint) as t3, cast(null as bigint) as t4,
        '' as day, '' as json, cast(null as text) as text1, cast(null as text) as text2, row_check, 0 as created_ms
      from tabular_state
      union all
      select 'file', file, format, rows, logical_bytes, file_bytes, min_position, max_position,
        min_time_received, max_time_received, min_time_requested, max_time_requested,
        capture_day, path_sets, sha256, block_crcs, row_check, created_ms
      from tabular_files where organization_id = ${organizationId}
      union all
      select 'delete', '', id, up_to, 0, 0, 0, 0, null, null, null, null, '', predicate, null, null, row_check, created_ms
      from tabular_deletes where organization_id = ${organizationId}
      union all
      select 'proof', '', files, deletes, 0, 0, 0, 0, null, null, null, null, '', '', files_sum, deletes_sum, null, 0
      from tabular_proofs where organization_id = ${organizationId}
    `.execute(db);
    return rows;
  } catch (caught) {
    // A number that no program of ours wrote.
    if (caught instanceof Error && /too large to be represented/.test(caught.message))
      throw new PlatformError(
        'data_loss',
        'the catalog of sealed readings is damaged (a number is out of range): nothing is answered in part. The host administrator finds all of it with platform admin doctor --deep, and mends it with platform admin repair',
        caught,
      );
    throw caught;
  }
}
