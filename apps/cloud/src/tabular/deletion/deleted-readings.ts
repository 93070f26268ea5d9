/** Which readings of an upload have been deleted since they were stored. */
import { getOrInsert } from '@platform/base';
import type { RepeatedUpload } from '../../ingest/accept-upload.ts';
import type { Database } from '../../metadata/tables.ts';
import { captureDay, dayText } from '../../reading-codec/capture-day.ts';
import { SensorDataView } from '../../reading-codec/sensor-data-view.ts';
import { coversSeries } from '../catalog/row-filter.ts';
import { seriesPathOf } from '../catalog/series.ts';
import { recentDeletes } from './recent-deletes.ts';

/** Rows removed by retention and size limits are ignored: they would be removed again. */
export async function deletedReadings(
  db: Database,
  { place, metadata, readings, first: { position, timeSyncedMs } }: RepeatedUpload,
): Promise<readonly boolean[]> {
  const path = seriesPathOf(place, metadata);
  const deletes = await recentDeletes(db, path.organization_id, position);
  if (deletes.length === 0) return [];
  const view = new SensorDataView();
  const covered = new Map<number, boolean>();
  const isCovered = (day: number): boolean =>
    deletes.some(({ predicate }) => coversSeries({ path, tags: metadata.tags }, predicate, dayText(day)));
  const deleted: boolean[] = [];
  for (let index = 0; index < readings.count; index++) {
    view.read(readings.bytes, readings.start(index), readings.end(index));
    deleted.push(getOrInsert(covered, captureDay(view.receivedMs ?? undefined, timeSyncedMs), isCovered));
  }
  return deleted;
}
