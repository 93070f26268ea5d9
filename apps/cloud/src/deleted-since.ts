/** What of an upload that is sent again was deleted since: its readings, or its file (D13). Wiring between ingest and what follows its log. */
import type { Binary } from './binary/feature.ts';
import type { DeletedSince } from './ingest/accept-upload.ts';
import { scanReading } from './ingest/scan-reading.ts';
import { seriesPathOf } from './tabular/series.ts';
import type { Tabular } from './tabular/tabular.ts';

export function deletedSince(stores: {
  readonly tabular: Pick<Tabular, 'deletedReadings'>;
  readonly binary: Pick<Binary, 'isDeleted'>;
}): DeletedSince {
  return async ({ place, metadata, readings, hasPayload, first: { position, fileId, timeSyncedMs } }) => {
    if (hasPayload) return [await stores.binary.isDeleted(fileId, position)];
    return stores.tabular.deletedReadings({
      path: seriesPathOf(place, metadata),
      tags: metadata.tags,
      position,
      timeSyncedMs,
      receivedMs: readings.map((reading) => scanReading(reading).timeReceivedMs ?? undefined),
    });
  };
}
