/** The last reading of each of the newest uploads that the log still holds, for the status page. */
import type { IngestLog } from '../ingest/log/log.ts';
import { openUpload } from '../reading-codec/open-upload.ts';
import { readDocument } from '../reading-codec/read-document.ts';
import { SensorDataView } from '../reading-codec/sensor-data-view.ts';

export async function latestReadings(
  log: Pick<IngestLog, 'read' | 'lastPosition'>,
  shownUploads: number,
): Promise<unknown[]> {
  const newest = { rows: shownUploads, bytes: 4 * 1024 * 1024 };
  const rows = await log.read(Math.max(0, log.lastPosition() - shownUploads), newest);
  const view = new SensorDataView();
  const sound = rows.filter(({ damage }) => damage === undefined);
  return sound.toReversed().map((row) => {
    const upload = openUpload(row.batch);
    const last = upload.readingCount - 1;
    if (last >= 0) view.read(upload.bytes, upload.readingStart(last), upload.readingEnd(last));
    return {
      timeMs: last < 0 ? null : view.receivedMs,
      part: upload.place?.partName ?? '',
      component: upload.metadata?.componentName ?? '',
      method: upload.metadata?.methodName ?? '',
      data:
        last >= 0 && view.kind === 'struct'
          ? readDocument(upload.bytes, view.contentStart, view.contentEnd)
          : { bytes: Number(upload.blob?.sizeBytes ?? 0n) },
    };
  });
}
