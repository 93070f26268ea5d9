/** Reads rows of files as the text that their checksum covers, which is faster than value by value. */
import { type AliasedRawBuilder, sql } from 'kysely';
import { separator } from '../../metadata/row-checks/checked-table.ts';
import { type CoveredRow, coveredText, valuesOf } from '../../metadata/row-checks/covered-text.ts';
import type { Database } from '../../metadata/tables.ts';
import { files } from '../store.ts';
import type { FileRow } from './find-files.ts';

export interface FoundFile {
  readonly row: FileRow;
  /** What the checksum is compared with. */
  readonly stored: CoveredRow;
}

type Covered = readonly [AliasedRawBuilder<string, 'covered'>, AliasedRawBuilder<string | null, 'row_check'>];

export const asCovered: Covered = [coveredText(files).as('covered'), sql<string | null>`row_check`.as('row_check')];

export async function foundFiles(db: Database, rows: readonly CoveredRow[]): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  for (const stored of rows) {
    const values = valuesOf(files, stored.covered);
    const row = values === undefined ? await readRow(db, stored) : rowOf(values);
    // The file may have just been deleted.
    if (row !== undefined) found.push({ row, stored });
  }
  return found;
}

/** For texts that contain the separator, which names of files may. Ids never do. */
async function readRow(db: Database, { covered }: CoveredRow): Promise<FileRow | undefined> {
  return await db
    .selectFrom('binary_data')
    .selectAll()
    .where('id', '=', covered.slice(0, covered.indexOf(separator)))
    .executeTakeFirst();
}

/** @param values in the order of `files.columns` */
function rowOf(values: readonly string[]): FileRow {
  return {
    id: values[0] ?? '',
    position: Number(values[1]),
    organization_id: values[2] ?? '',
    location_id: values[3] ?? '',
    robot_id: values[4] ?? '',
    part_id: values[5] ?? '',
    robot_name: values[6] ?? '',
    part_name: values[7] ?? '',
    component_type: values[8] ?? '',
    component_name: values[9] ?? '',
    method_name: values[10] ?? '',
    mime_type: values[11] ?? '',
    file_name: values[12] ?? '',
    file_ext: values[13] ?? '',
    size_bytes: Number(values[14]),
    captured_us: Number(values[15]),
    time_requested_us: Number(values[16]),
    time_received_us: Number(values[17]),
    capture_day: Number(values[18]),
    synced_ms: Number(values[19]),
    method_parameters: values[20] ?? '',
    classifications: values[21] ?? '',
    blob_path: values[22] ?? '',
    sha256: values[23] ?? '',
    tags: values[24] ?? '[]',
  };
}
