/** Which readings of an upload have been deleted since they were stored. */
import type { Kysely } from 'kysely';
import type { RepeatedUpload } from '../../ingest/accept-upload.ts';
import type { CloudTables } from '../../metadata/tables.ts';
import { captureDay, dayText } from '../../reading-codec/capture-day.ts';
import { SensorDataView } from '../../reading-codec/sensor-data-view.ts';
import { coversSeries } from '../catalog/row-filter.ts';
import { seriesPathOf } from '../catalog/series.ts';
import { recentDeletes } from './recent-deletes.ts';

/** Rows removed by retention and size limits are ignored: they would be removed again. */
export async function deletedReadings(
  db: Kysely<CloudTables>,
  { place, metadata, readings, first: { position, timeSyncedMs } }: RepeatedUpload,
): Promise<readonly boolean[]> {
  const path = seriesPathOf(place, metadata);
  const deletes = await recentDeletes(db, path.organization_id, position);
  if (deletes.length === 0) return readings.map(() => false);
  const view = new SensorDataView();
  return readings.map((reading) => {
    view.read(reading, 0, reading.length);
    const day = dayText(captureDay(view.receivedMs ?? undefined, timeSyncedMs));
    return deletes.some(({ predicate }) => coversSeries({ path, tags: metadata.tags }, predicate, day));
  });
}
