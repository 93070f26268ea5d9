/**
 * Follows the ingest log and counts each acknowledged upload once, in the transaction that moves the cursor (I11). Uploads are counted in
 * memory right after their commit, while the log still has them in memory; their sums are written once a second.
 */
import { type ClockAndLog, errorText } from '@platform/base';
import { type FollowLogOptions, followLog, type LogFollower } from '../../follow-log/follow-log.ts';
import type { IngestLog, LogRow } from '../../ingest/log/log.ts';
import type { CloudTables, Database, DatabaseTransaction } from '../../metadata/tables.ts';
import { addUsage } from './add-usage.ts';
import { type CountedUpload, countUpload, UploadSums, UsageSums } from './count-uploads.ts';
import { readPayers } from './payers.ts';

export interface MeterUploadsDeps extends ClockAndLog {
  readonly db: Database;
  readonly ingestLog: FollowLogOptions<CloudTables>['ingestLog'] & Pick<IngestLog, 'read'>;
}

const everyMs = 1_000;

export function meterUploads({ db, ingestLog, clock, log }: MeterUploadsDeps): LogFollower {
  let sums = new UploadSums();
  return followLog<CloudTables>({
    name: 'usage',
    ...{ db, ingestLog, clock, log },
    // Uploads truncated before this follower existed are not charged.
    async beginAfter() {
      const [oldest] = await ingestLog.read(0, { rows: 1, bytes: 1 });
      return oldest === undefined ? ingestLog.lastPosition() : oldest.position - 1;
    },
    async process(rows) {
      const uploads: CountedUpload[] = [];
      const damaged: { readonly row: LogRow; readonly reason: string }[] = [];
      for (const row of rows) {
        try {
          uploads.push(countUpload(row.batch));
        } catch (caught) {
          damaged.push({ row, reason: errorText(caught) });
        }
      }
      return {
        damaged,
        gather() {
          for (const upload of uploads) sums.add(upload);
        },
      };
    },
    gathered: {
      everyMs,
      begin: () => {
        sums = new UploadSums();
      },
      write: (trx) => write(trx, sums),
    },
  });
}

/** The payer of an hour that has begun cannot change, so it may be looked up after the upload was counted. */
async function write(trx: DatabaseTransaction, uploads: UploadSums): Promise<void> {
  const counted = uploads.rows();
  if (counted.length === 0) return;
  const payerOf = await readPayers(trx, [...new Set(counted.map(({ locationId }) => locationId))]);
  const usage = new UsageSums();
  for (const { organizationId, locationId, hour, type, quantity } of counted)
    usage.add(payerOf(locationId, organizationId, hour), hour, type, quantity);
  await addUsage(trx, usage.rows());
}
