/** Catalog rows of listed files: their content, and the refusal of changed rows. */
import { dataLoss, type PlatformError } from '@platform/base';
import { isFileRowRight } from '../integrity/catalog-findings.ts';
import type { CheckedFile, FileRow } from '../integrity/row-checksum.ts';
import type { FileRef, SealedFile } from '../process/messages.ts';
import type { HeldTimes } from './row-filter.ts';

export function refOf(row: FileRow): FileRef & { readonly timeReceived: HeldTimes } {
  return {
    file: row.file,
    format: row.format,
    captureDay: row.capture_day,
    timeReceived: { min: row.min_time_received, max: row.max_time_received },
    expected: { bytes: row.file_bytes, sha256: row.sha256, blockCrcs: row.block_crcs },
  };
}

/** Builds the catalog row of a file. */
export function fileRowOf(file: SealedFile, nowMs: number): CheckedFile {
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

export function damagedCatalog(wrong: readonly string[]): PlatformError {
  const more = wrong.length > 1 ? `, and ${wrong.length - 1} more` : '';
  return dataLoss(
    `the catalog of sealed readings is damaged (${wrong[0]}${more}): no partial answers are given. The host administrator can find all damage with platform admin doctor --deep and repair it with platform admin repair`,
  );
}

/** @throws PlatformError data_loss if a row was changed. */
export function requireRight(rows: readonly FileRow[]): readonly FileRow[] {
  const wrong = rows.filter((row) => !isFileRowRight(row)).map(({ file }) => `the row of file ${file} was changed`);
  if (wrong.length > 0) throw damagedCatalog(wrong);
  return rows;
}
