/** Converts rows of the ingest log to the columns of files, as sealing does, to restore a lost file of readings. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { runInTurns } from '@platform/base';
import { dayNumber } from '../../../reading-codec/capture-day.ts';
import type { Slice } from '../files/slice.ts';
import { createTail, isTailFull, type TailLimits } from '../hot/tail.ts';
import { writeHotBatch } from '../hot/write-hot-batch.ts';
import type { RowBuffer } from '../rows/row-buffer.ts';
import { decodeUpload, newDecodeBuffers } from './decode-upload.ts';

export interface LogSlicesOptions {
  /** Default: rows of all organizations and days. */
  readonly only?: {
    readonly organizationId: string;
    /** "YYYY-MM-DD" */
    readonly captureDay: string;
  };
  /** Rows of the log, each once. */
  readonly uploads: AsyncIterable<{ readonly position: number; readonly batch: Uint8Array }>;
  /** Whether a row is omitted. Default: none. */
  readonly isHeld?: ((position: number, index: number) => boolean) | undefined;
  /** Directory for files that are removed with the caller's work. */
  readonly directory: string;
  /** When one of these files is full. */
  readonly limits: TailLimits;
}

export async function logSlices(connection: DuckDBConnection, options: LogSlicesOptions): Promise<Slice[]> {
  const { only, uploads, isHeld = () => false, directory, limits } = options;
  const day = only && dayNumber(only.captureDay);
  const buffers = newDecodeBuffers();
  const slices: Slice[] = [];
  let tail = createTail(0);
  const write = async (): Promise<void> => {
    if (tail.rows.rows > 0) slices.push(...(await writeHotBatch(connection, tail, directory)).slices);
    tail = createTail(0);
  };
  for await (const { position, batch } of uploads) {
    const { rows } = tail;
    const before = rows.rows;
    try {
      await runInTurns(decodeUpload(position, batch, rows, buffers, (series) => tail.seriesId(series)));
    } catch {
      // Rows that sealing could not load are in no file.
      rows.truncate(before);
    }
    keepRows(
      rows,
      before,
      (row) =>
        (day === undefined || rows.captureDay[row] === day) &&
        (only === undefined || tail.series[rows.series[row] as number]?.path.organization_id === only.organizationId) &&
        !isHeld(position, rows.index[row] as number),
    );
    if (isTailFull(tail, limits)) await write();
  }
  await write();
  return slices;
}

/** Keeps or drops the rows from `first` on. */
function keepRows(rows: RowBuffer, first: number, keeps: (row: number) => boolean): void {
  const columns = [
    ...[rows.position, rows.timeRequested, rows.timeReceived, rows.timeSynced],
    ...[rows.index, rows.series, rows.captureDay, rows.data],
  ];
  let kept = first;
  for (let row = first; row < rows.rows; row++) {
    if (!keeps(row)) continue;
    for (const column of columns as unknown[][]) [column[row], column[kept]] = [column[kept], column[row]];
    kept++;
  }
  rows.truncate(kept);
}
