/**
 * Follows the ingest log and writes the metadata of pictures and files to `binary_data` together with the cursor (I11). Each upload is
 * therefore stored once, and deleted files do not reappear.
 */
import { type Clock, type ClockAndLog, errorText } from '@platform/base';
import { type FollowLogOptions, followLog, type LogFollower, type Processed } from '../../follow-log/follow-log.ts';
import type { IngestLog, LogRow } from '../../ingest/log/log.ts';
import type { CloudTables, Database } from '../../metadata/tables.ts';
import { insertUploads } from './insert-uploads.ts';
import { type BinaryUpload, readBinaryUpload } from './read-upload.ts';

export interface FollowUploadsDeps extends ClockAndLog {
  readonly db: Database;
  readonly ingestLog: FollowLogOptions<CloudTables>['ingestLog'] & Pick<IngestLog, 'read'>;
}

export function followUploads({ db, ingestLog, clock, log }: FollowUploadsDeps): LogFollower {
  return followLog({
    name: 'binary data',
    ...{ db, ingestLog, clock, log },
    // Rows truncated before this follower existed are not available.
    async beginAfter() {
      const [oldest] = await ingestLog.read(0, { rows: 1, bytes: 1 });
      return oldest === undefined ? ingestLog.lastPosition() : oldest.position - 1;
    },
    process: async (rows) => enter(rows, clock),
  });
}

function enter(rows: readonly LogRow[], clock: Clock): Processed<CloudTables> {
  const uploads: BinaryUpload[] = [];
  const damaged: { readonly row: LogRow; readonly reason: string }[] = [];
  for (const row of rows) {
    try {
      const upload = readBinaryUpload(row.position, row.batch);
      if (upload !== null) uploads.push(upload);
    } catch (caught) {
      damaged.push({ row, reason: errorText(caught) });
    }
  }
  return { damaged, ...(uploads.length > 0 && { write: (trx) => insertUploads(trx, uploads, clock.now()) }) };
}
