/** I12: the log is shortened behind its slowest follower, in bounded batches; a follower that stands still is reported, never skipped. */
import type { Clock, Log } from '@platform/base';
import type { IngestLog } from './log.ts';

export interface TruncateOptions {
  readonly ingestLog: IngestLog;
  readonly log: Log;
  readonly clock: Clock;
  /** The least position that everyone (seal and all cursors) is past. */
  readonly floor: () => Promise<number>;
}

const batchRows = 100;
const alarmMs = 10 * 60_000;

/** A step for `follow`: true when there may be more to truncate. */
export function truncateStep({
  ingestLog,
  log,
  clock,
  floor,
}: TruncateOptions): (signal: AbortSignal) => Promise<boolean> {
  let standing: { readonly position: number; readonly sinceMs: number } | null = null;
  return async () => {
    const position = await floor();
    const now = clock.monotonic();
    if (position >= ingestLog.lastPosition() || standing?.position !== position) standing = { position, sinceMs: now };
    else if (now - standing.sinceMs >= alarmMs) {
      standing = { position, sinceMs: now };
      log.error('ingest log: a follower stands still, the log grows behind it', {
        position,
        lastPosition: ingestLog.lastPosition(),
        retainedBytes: ingestLog.retainedBytes(),
      });
    }
    return (await ingestLog.truncate(position, batchRows)) === batchRows;
  };
}
