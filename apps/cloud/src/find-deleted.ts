/** What of an upload that is sent again was deleted since: its readings, or its file (D13). Wiring between ingest and what follows its log. */
import type { Binary } from './binary/feature.ts';
import type { FindDeleted } from './ingest/accept-upload.ts';
import { SensorDataView } from './reading-codec/sensor-data-view.ts';
import { seriesPathOf } from './tabular/catalog/series.ts';
import type { Tabular } from './tabular/tabular.ts';

export function createFindDeleted(stores: {
  readonly tabular: Pick<Tabular, 'deletedReadings'>;
  readonly binary: Pick<Binary, 'isDeleted'>;
}): FindDeleted {
  const view = new SensorDataView();
  const receivedMs = (reading: Uint8Array): number | undefined => {
    view.read(reading, 0, reading.length);
    return view.receivedMs ?? undefined;
  };
  return async ({ place, metadata, readings, hasPayload, first: { position, fileId, timeSyncedMs } }) => {
    if (hasPayload) return [await stores.binary.isDeleted(fileId, position)];
    return stores.tabular.deletedReadings({
      path: seriesPathOf(place, metadata),
      tags: metadata.tags,
      position,
      timeSyncedMs,
      receivedMs: readings.map(receivedMs),
    });
  };
}
