/** The last reading of each of the newest uploads that the log still holds, for the status page. */
import type { IngestLog, LogRow } from '../ingest/log/log.ts';
import { openUpload } from '../reading-codec/open-upload.ts';
import { readDocument } from '../reading-codec/read-document.ts';
import { SensorDataView } from '../reading-codec/sensor-data-view.ts';

/** Of larger documents only the size is shown: the page is asked for every few seconds. */
const shownBytes = 64 << 10;
/** Number of groups of `shownUploads` to read: others may upload much more often than the caller's parts. */
const maxSteps = 16;

/** @param sees whether the uploads of a part may be shown */
export async function latestReadings(
  log: Pick<IngestLog, 'read' | 'lastPosition'>,
  shownUploads: number,
  sees: (partId: string) => boolean,
): Promise<unknown[]> {
  const view = new SensorDataView();
  const rows = await newestRows(log, shownUploads, sees);
  return rows.map((row) => {
    const upload = openUpload(row.batch);
    const last = upload.readingCount - 1;
    if (last >= 0) view.read(upload.bytes, upload.readingStart(last), upload.readingEnd(last));
    const length = last < 0 ? 0 : view.contentEnd - view.contentStart;
    return {
      timeMs: last < 0 ? null : view.receivedMs,
      part: upload.place?.partName ?? '',
      component: upload.metadata?.componentName ?? '',
      method: upload.metadata?.methodName ?? '',
      data:
        last >= 0 && view.kind === 'struct' && length <= shownBytes
          ? readDocument(upload.bytes, view.contentStart, view.contentEnd)
          : { bytes: length > shownBytes ? length : Number(upload.blob?.sizeBytes ?? 0n) },
    };
  });
}

/** Newest first. */
async function newestRows(
  log: Pick<IngestLog, 'read' | 'lastPosition'>,
  count: number,
  sees: (partId: string) => boolean,
): Promise<LogRow[]> {
  const found: LogRow[] = [];
  let end = log.lastPosition();
  for (let step = 0; step < maxSteps && end > 0 && found.length < count; step++) {
    const after = Math.max(0, end - count);
    const rows = await log.read(after, { rows: count, bytes: 4 * 1024 * 1024 });
    // If the log is truncated, the rows after the position are later ones, which were already seen.
    const upTo = end;
    const shown = rows.filter(
      ({ position, damage, partId }) => position <= upTo && damage === undefined && sees(partId),
    );
    found.push(...shown.toReversed());
    end = after;
  }
  return found.slice(0, count);
}
