/** Which readings of an upload were deleted since they were stored. */
import type { Kysely } from 'kysely';
import type { CloudTables } from '../../metadata/tables.ts';
import { captureDay, dayText } from '../../reading-codec/capture-day.ts';
import { coversSeries } from '../catalog/row-filter.ts';
import type { Series } from '../catalog/series.ts';
import { recentDeletes } from './recent-deletes.ts';

export interface StoredUpload extends Pick<Series, 'path' | 'tags'> {
  readonly position: number;
  readonly timeSyncedMs: number;
  /** Of each reading. */
  readonly receivedMs: readonly (number | undefined)[];
}

/** What retention and size limits took away does not count: it would be taken away again. */
export async function deletedReadings(
  db: Kysely<CloudTables>,
  { path, tags, position, timeSyncedMs, receivedMs }: StoredUpload,
): Promise<readonly boolean[]> {
  const deletes = await recentDeletes(db, path.organization_id, position);
  if (deletes.length === 0) return receivedMs.map(() => false);
  return receivedMs.map((ms) => {
    const day = dayText(captureDay(ms, timeSyncedMs));
    return deletes.some(({ predicate }) => coversSeries({ path, tags }, predicate, day));
  });
}
