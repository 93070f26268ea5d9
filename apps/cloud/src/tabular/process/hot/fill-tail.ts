/** Decodes rows of the log into a tail. Unreadable parts are skipped and reported (I8). */
import { errorText, type Steps } from '@platform/base';
import { type DamagedReading, decodeUpload, type newDecodeBuffers } from '../log/decode-upload.ts';
import type { LogReader } from '../log/read-log.ts';
import type { Tail } from './tail.ts';

/** Part of a log row that could not be loaded; its other readings are present (I8). */
export interface Damage {
  readonly position: number;
  readonly reason: string;
  /** Number of missing readings; null: all, because the row could not even be opened. */
  readonly readings: number | null;
}

/**
 * Either all rows of a position are added to the tail, or none. Nobody else may read or fill it in between.
 *
 * @param logged at least one row; they follow the tail's last position
 * @param nowMs monotonic
 */
export function* fillTail(
  tail: Tail,
  logged: Awaited<ReturnType<LogReader['read']>>,
  buffers: ReturnType<typeof newDecodeBuffers>,
  nowMs: number,
): Steps<readonly Damage[]> {
  const damaged: Damage[] = [];
  const { rows } = tail;
  for (const { position, batch } of logged) {
    const before = rows.rows;
    try {
      const readings = yield* decodeUpload(position, batch, rows, buffers, (series) => tail.seriesId(series));
      if (readings.length > 0) damaged.push({ position, reason: textOf(readings), readings: readings.length });
    } catch (caught) {
      rows.truncate(before);
      damaged.push({ position, reason: errorText(caught), readings: null });
    }
    tail.lastBatch = batch;
    tail.to = position;
  }
  tail.damaged ||= damaged.length > 0 || logged.some(({ damage }) => damage !== undefined);
  tail.filledSinceMs ??= nowMs;
  return damaged;
}

const namedReadings = 20;

function textOf(readings: readonly DamagedReading[]): string {
  const named = readings.slice(0, namedReadings).map(({ index, reason }) => `reading ${index}: ${reason}`);
  const more = readings.length > namedReadings ? [`… and ${readings.length - namedReadings} more`] : [];
  return [...named, ...more].join('; ');
}
