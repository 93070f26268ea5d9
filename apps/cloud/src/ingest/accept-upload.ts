/**
 * The way of an upload into the log: its payload to the blob store first (I4), then its row (I1, I2, I5), then the answer.
 * Whoever calls this has checked the upload's form and that the caller may send for this part.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { asPlatformError, type Clock, PlatformError } from '@platform/base';
import { DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { blobPath } from '../blobs/blob-path.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { captureDay, dayText } from '../reading-codec/capture-day.ts';
import type { Backpressure } from './backpressure/backpressure.ts';
import type { AppendResult, IngestLog } from './log/log.ts';
import type { Place } from './place.ts';
import { encodeBatch, type Upload, uploadHash } from './readings/encode-batch.ts';
import { hasTimes } from './readings/scan-reading.ts';
import type { CheckedMetadata, Identity } from './upload-metadata.ts';

export interface AcceptDeps {
  readonly ingestLog: IngestLog;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  /** A line in the machine's log: part of the upload could not be stored (D14). */
  readonly reportGap: (place: Place, text: string) => void;
  readonly findDeleted: FindDeleted;
  readonly backpressure: Pick<Backpressure, 'admit'>;
}

/** Who waits for the answer, and for how long. */
export interface Sender {
  /** Aborted when the sender is gone. */
  readonly signal: AbortSignal;
  /** Wall ms; undefined: none. */
  readonly deadline: number | undefined;
}

/** An upload that is known by its content, and is sent again. */
export interface RepeatedUpload {
  readonly place: Place;
  readonly metadata: CheckedMetadata['metadata'];
  /** SensorData each. */
  readonly readings: readonly Uint8Array[];
  readonly hasPayload: boolean;
  readonly first: {
    readonly position: number;
    readonly fileId: string;
    /** When it was stored, wall ms. */
    readonly timeSyncedMs: number;
  };
}

/** Which of its readings were deleted since they were stored; of an upload with a payload one answer, of that (D13). */
export type FindDeleted = (upload: RepeatedUpload) => Promise<readonly boolean[]>;

export interface Payload {
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** When the reading was taken, machine's clock; null: not told, as for files. */
  readonly timeReceivedMs: number | null;
}

export interface AcceptedUpload {
  /** The same for every retry of the upload. */
  readonly fileId: string;
}

/** Public clients' uploads are recognised this long (D13). */
const anonymousMs = 7 * 24 * 3_600_000;

interface UploadKey extends Identity {
  /** After it was stored; absent: until the sender's low-water mark passes it. */
  readonly recognisedMs?: number;
}

/** Throws already_exists, canceled, resource_exhausted or unavailable; then the upload is not in the log. */
export async function acceptUpload(
  deps: AcceptDeps,
  place: Place,
  { metadata, identity }: CheckedMetadata,
  content: Pick<Upload, 'readings' | 'refused' | 'untimed'>,
  payload: Payload | null,
  { signal, deadline }: Sender,
): Promise<AcceptedUpload> {
  const { ingestLog, blobs, clock, reportGap, backpressure } = deps;
  const fileId = identity ? fileIdOf(place.partId, identity) : randomUUID();

  using stored = payload ? await blobs.put(payloadPath(place, metadata, payload, clock.now()), payload.chunks) : null;
  if (stored && signal.aborted) {
    // A proxy may have ended what its client cut; nobody waits for this answer, and a retry brings the payload again.
    await dropPayload(deps, stored.path);
    throw new PlatformError('canceled', 'the sender disconnected before its payload was in the log: send it again');
  }
  const upload: Upload = { metadata, ...content, blob: stored };
  const sha256 = uploadHash(upload, identity === null);
  const { recognisedMs, ...key }: UploadKey = identity ?? anonymousKey(upload, sha256);
  using admission = await backpressure.admit({
    organizationId: place.organizationId,
    bytes: metadata.type === DataType.TABULAR_SENSOR ? bytesOf(content.readings) : 0,
    signal,
    deadline,
    isKnown: () => ingestLog.isKnown({ partId: place.partId, ...key }),
  });
  const timeSyncedMs = clock.now();
  const append = (kept: Upload, replaces?: number): Promise<AppendResult> => {
    const batch = encodeBatch(kept, { place, timeSyncedMs, fileId });
    return ingestLog.append({
      ...{ partId: place.partId, ...key, sha256, batch, fileId },
      ...(stored && { blobPath: stored.path }),
      ...(recognisedMs !== undefined && { settleUntil: timeSyncedMs + recognisedMs }),
      ...(replaces !== undefined && { replaces }),
    });
  };
  try {
    let result = await append(upload);
    if (result.outcome === 'repeated' && identity === null) {
      const lost = await lostOf(deps, place, upload, result);
      if (lost !== undefined) result = await append(lost, result.position ?? 0);
    }
    if (result.outcome === 'appended' && result.position !== null) admission.stored(result.position);
    if (stored && result.outcome !== 'appended') await dropPayload(deps, stored.path);
    if (result.outcome === 'appended') {
      for (const { index, reason } of content.refused) {
        reportGap(place, `sensor_contents[${index}] of ${metadata.componentName} was not stored: ${reason}`);
      }
    }
    return { fileId: result.fileId };
  } catch (caught) {
    // After any other failure the row may still turn out to be there; the sweep will know.
    if (stored && asPlatformError(caught).code === 'already_exists') await dropPayload(deps, stored.path);
    throw caught;
  }
}

/** What recognises an upload without identity: its content, if it says when that was; three equal frames are three frames (D13). */
function anonymousKey(upload: Upload, sha256: Uint8Array): UploadKey {
  const { fileCreateTime, fileModifyTime } = upload.metadata;
  const hasTime = fileCreateTime !== undefined || fileModifyTime !== undefined || upload.readings.some(hasTimes);
  return hasTime
    ? { stream: sha256, seq: 0, lowWaterMark: 0, recognisedMs: anonymousMs }
    : { stream: new Uint8Array(randomBytes(16)), seq: 0, lowWaterMark: 0, recognisedMs: 0 };
}

function bytesOf(readings: readonly Uint8Array[]): number {
  return readings.reduce((sum, { length }) => sum + length, 0);
}

/** The part of a repeated upload that was deleted since; undefined: nothing. What is still there is not stored twice. */
async function lostOf(
  { findDeleted }: AcceptDeps,
  place: Place,
  upload: Upload,
  { position, fileId, settleUntil }: AppendResult,
): Promise<Upload | undefined> {
  if (position === null || settleUntil === null || settleUntil === undefined) return undefined;
  const { metadata, readings, blob } = upload;
  const first = { position, fileId, timeSyncedMs: settleUntil - anonymousMs };
  const deleted = await findDeleted({ place, metadata, readings, hasPayload: blob !== null, first });
  if (!deleted.includes(true)) return undefined;
  return deleted.includes(false)
    ? { ...upload, readings: readings.filter((_, index) => deleted[index] === true), refused: [] }
    : upload;
}

/** A repeated upload's second payload belongs to no row, unless it is kept aside. What cannot be removed now, the sweep removes. */
async function dropPayload({ ingestLog, blobs }: AcceptDeps, path: string): Promise<void> {
  // A log that cannot say it leaves the payload to the sweep.
  if (!(await ingestLog.hasBlob(path).catch(() => true))) await blobs.remove(path).catch(() => {});
}

/** One id for all retries, also for those that come after the low-water mark has passed the upload and the log has forgotten it. */
function fileIdOf(partId: string, { stream, seq }: Identity): string {
  const hash = createHash('sha256').update(partId).update('\0').update(stream).update(`\0${seq}`).digest('hex');
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `a${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-');
}

/** A name of its own for every attempt: a retry or a conflicting upload must never touch a payload that is acknowledged. */
function payloadPath(place: Place, metadata: CheckedMetadata['metadata'], payload: Payload, nowMs: number): string {
  return blobPath({
    organizationId: place.organizationId,
    locationId: place.locationId,
    robotId: place.robotId,
    partId: place.partId,
    componentType: metadata.componentType,
    componentName: metadata.componentName,
    methodName: metadata.methodName,
    captureDay: dayText(captureDay(payload.timeReceivedMs ?? undefined, nowMs)),
    file: randomUUID() + extension(metadata.fileExtension, metadata.fileName),
  });
}

function extension(fileExtension: string, fileName: string): string {
  const given = fileExtension === '' ? (/\.[^./\\]+$/.exec(fileName)?.[0] ?? '') : fileExtension;
  const plain = given
    .replace(/^\.+/, '')
    .replace(/[^A-Za-z0-9_-]/g, '')
    .slice(0, 16);
  return plain === '' ? '' : `.${plain}`;
}
