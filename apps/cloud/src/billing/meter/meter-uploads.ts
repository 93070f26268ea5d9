/**
 * Follows the ingest log and counts each acknowledged upload once, in the transaction that moves the cursor (I11). It reads the log once a
 * second instead of at each commit, so that many uploads share a transaction.
 */
import { type Clock, errorText, type Log } from '@platform/base';
import { type FollowLogOptions, followLog, type LogFollower, type Processed } from '../../follow-log/follow-log.ts';
import type { IngestLog, LogRow } from '../../ingest/log/log.ts';
import type { CloudTables, Database } from '../../metadata/tables.ts';
import { addUsage } from './add-usage.ts';
import { type CountedUpload, countUpload, UsageSums } from './count-uploads.ts';
import { readPayers } from './payers.ts';

export interface MeterUploadsDeps {
  readonly db: Database;
  readonly ingestLog: FollowLogOptions<CloudTables>['ingestLog'] & Pick<IngestLog, 'read'>;
  readonly clock: Clock;
  readonly log: Log;
}

const everyMs = 1_000;

export function meterUploads({ db, ingestLog, clock, log }: MeterUploadsDeps): LogFollower {
  return followLog<CloudTables>({
    name: 'usage',
    ...{ db, ingestLog, clock, log, everyMs },
    // What was truncated before this follower existed is not charged.
    async beginAfter() {
      const [oldest] = await ingestLog.read(0, { rows: 1, bytes: 1 });
      return oldest === undefined ? ingestLog.lastPosition() : oldest.position - 1;
    },
    process: (rows) => count(db, rows),
  });
}

async function count(db: Database, rows: readonly LogRow[]): Promise<Processed<CloudTables>> {
  const uploads: CountedUpload[] = [];
  const damaged: { readonly row: LogRow; readonly reason: string }[] = [];
  for (const row of rows) {
    try {
      uploads.push(countUpload(row.batch));
    } catch (caught) {
      damaged.push({ row, reason: errorText(caught) });
    }
  }
  const { payerOf } = await readPayers(db, [...new Set(uploads.map(({ locationId }) => locationId))]);
  const sums = new UsageSums();
  for (const { organizationId, locationId, syncedMs, type, bytes } of uploads)
    sums.add(payerOf(locationId, organizationId, syncedMs), syncedMs, type, bytes);
  const counted = sums.rows();
  return { damaged, ...(counted.length > 0 && { write: (trx) => addUsage(trx, counted) }) };
}
