/** I12: truncates the log up to its slowest follower, in bounded batches. A follower that does not move is reported, never skipped. */
import type { ClockAndLog } from '@platform/base';
import type { IngestLog } from './log.ts';

export interface TruncateDeps extends ClockAndLog {
  readonly ingestLog: IngestLog;
  /** The lowest position that the seal and all cursors have passed. */
  readonly lowWaterMark: () => Promise<number>;
}

const batchRows = 100;

/**
 * A low-water mark that has not moved for this long although rows are behind it is stuck. Rows wait up to 10 min to be sealed (sealAgeMs),
 * and then for the sealing itself, so only three times that is conclusive. The alarm is repeated after the same interval.
 */
const alarmMs = 30 * 60_000;

/** A step for `follow`: true when there may be more to truncate. */
export function truncateStep({
  ingestLog,
  log,
  clock,
  lowWaterMark,
}: TruncateDeps): (signal: AbortSignal) => Promise<boolean> {
  let standing: { readonly position: number; readonly sinceMs: number } | null = null;
  let isAlarmed = false;
  return async () => {
    const position = await lowWaterMark();
    const now = clock.monotonic();
    if (position >= ingestLog.lastPosition() || standing?.position !== position) {
      standing = { position, sinceMs: now };
      if (isAlarmed) log.info('ingest log: the stalled follower makes progress again', { position });
      isAlarmed = false;
    } else if (now - standing.sinceMs >= alarmMs) {
      standing = { position, sinceMs: now };
      isAlarmed = true;
      log.error('ingest log: a follower is stalled, and the log grows', {
        position,
        lastPosition: ingestLog.lastPosition(),
        retainedBytes: ingestLog.retainedBytes(),
        forMinutes: alarmMs / 60_000,
      });
    }
    return (await ingestLog.truncate(position, batchRows)) > 0;
  };
}
