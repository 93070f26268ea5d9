/**
 * How an upload is accepted: first its payload is stored (I4), then its row is appended to the log (I1, I2, I5), then the sender is
 * answered. The caller has already checked the upload's form and that the sender may upload for this part.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { asPlatformError, type Clock, PlatformError, runInTurns } from '@platform/base';
import { DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { blobPath } from '../blobs/blob-path.ts';
import type { BlobStore, StoredBlob } from '../blobs/blob-store.ts';
import { captureDay, dayText } from '../reading-codec/capture-day.ts';
import { ReadingRanges } from '../reading-codec/reading-ranges.ts';
import type { Backpressure } from './backpressure/backpressure.ts';
import type { AppendResult, IngestLog } from './log/log.ts';
import type { Place } from './place.ts';
import { encodeBatch, type Upload, uploadHash } from './readings/encode-batch.ts';
import { haveTimes } from './readings/scan-reading.ts';
import type { StagedFile } from './staged/staged-uploads.ts';
import type { CheckedMetadata, Identity } from './upload-metadata.ts';

export interface AcceptDeps {
  readonly ingestLog: IngestLog;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  /** Adds a line to the machine's log: part of the upload could not be stored (D14). Must not throw. */
  readonly reportGap: (place: Place, text: string) => void;
  readonly findDeleted: FindDeleted;
  readonly backpressure: Pick<Backpressure, 'admit'>;
  /** Called once for each stored upload with the number and bytes of its tabular readings. */
  readonly countStored: (readings: number, bytes: number) => void;
}

/** The sender that waits for the answer, and how long it waits. */
export interface Sender {
  /** Aborted when the sender has disconnected. */
  readonly signal: AbortSignal;
  /** Wall ms; undefined: no deadline. */
  readonly deadline: number | undefined;
}

/** A repeated upload that was recognised by its content. */
export interface RepeatedUpload {
  readonly place: Place;
  readonly metadata: CheckedMetadata['metadata'];
  /** Each is an encoded SensorData. */
  readonly readings: ReadingRanges;
  readonly hasPayload: boolean;
  readonly first: {
    readonly position: number;
    readonly fileId: string;
    /** Wall ms at which it was stored. */
    readonly timeSyncedMs: number;
  };
}

/** Which of its readings have been deleted since they were stored; for an upload with a payload, one answer for the payload (D13). */
export type FindDeleted = (upload: RepeatedUpload) => Promise<readonly boolean[]>;

export interface Payload {
  /** The payload's bytes, unless a file holds them already. */
  readonly chunks?: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Durable; the file is not changed, and may be removed afterwards. */
  readonly staged?: StagedFile;
  /** Capture time by the machine's clock; null: not given, as for files. */
  readonly timeReceivedMs: number | null;
}

export interface AcceptedUpload {
  /** The same for every retry of the upload. */
  readonly fileId: string;
}

/** How long uploads of public clients are recognised (D13). */
const anonymousMs = 7 * 24 * 3_600_000;

interface UploadKey extends Identity {
  /** Time after storing during which retries are recognised; absent: until the sender's low-water mark passes it. */
  readonly recognisedMs?: number;
}

/** Throws already_exists, canceled, resource_exhausted or unavailable; in each case the upload is not in the log. */
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

  using stored = payload
    ? await storePayload(blobs, payloadPath(place, metadata, payload, clock.now()), payload)
    : null;
  if (stored && signal.aborted) {
    // The client may have cut the upload off, and a proxy ended it properly. No sender is left to answer, and a retry brings the payload
    // again.
    await dropPayload(deps, stored.path);
    throw new PlatformError('canceled', 'the sender disconnected before its payload was in the log: send it again');
  }
  const upload: Upload = { metadata, ...content, blob: stored };
  const sha256 = await runInTurns(uploadHash(upload, identity === null));
  const { recognisedMs, ...key }: UploadKey = identity ?? (await anonymousKey(upload, sha256));
  const tabularBytes = metadata.type === DataType.TABULAR_SENSOR ? content.readings.totalBytes : 0;
  using admission = await backpressure.admit({
    organizationId: place.organizationId,
    bytes: tabularBytes,
    signal,
    deadline,
    isKnown: () => ingestLog.isKnown({ partId: place.partId, ...key }),
  });
  const timeSyncedMs = clock.now();
  const append = async (kept: Upload, replaces?: number): Promise<AppendResult> => {
    const batch = await runInTurns(encodeBatch(kept, { place, timeSyncedMs, fileId }));
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
      deps.countStored(metadata.type === DataType.TABULAR_SENSOR ? content.readings.count : 0, tabularBytes);
      for (const line of gapLines(metadata.componentName, content.refused)) reportGap(place, line);
    }
    return { fileId: result.fileId };
  } catch (caught) {
    // After any other failure the row may still have been appended; the sweep decides later.
    if (stored && asPlatformError(caught).code === 'already_exists') await dropPayload(deps, stored.path);
    throw caught;
  }
}

function storePayload(blobs: BlobStore, path: string, { chunks = [], staged }: Payload): Promise<StoredBlob> {
  return staged === undefined ? blobs.put(path, chunks) : blobs.adopt(path, staged);
}

/** The key of an upload without identity: its content, if it includes a time. Without times, three equal frames are three uploads (D13). */
async function anonymousKey(upload: Upload, sha256: Uint8Array): Promise<UploadKey> {
  const { fileCreateTime, fileModifyTime } = upload.metadata;
  const hasTime =
    fileCreateTime !== undefined || fileModifyTime !== undefined || (await runInTurns(haveTimes(upload.readings)));
  return hasTime
    ? { stream: sha256, seq: 0, lowWaterMark: 0, recognisedMs: anonymousMs }
    : { stream: new Uint8Array(randomBytes(16)), seq: 0, lowWaterMark: 0, recognisedMs: 0 };
}

/** The part of a repeated upload that has been deleted; undefined: none. Readings that still exist are not stored twice. */
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
  if (!deleted.includes(false)) return upload;
  const lost = new ReadingRanges(readings.bytes);
  for (const [index, isDeleted] of deleted.entries())
    if (isDeleted) lost.add(readings.start(index), readings.end(index));
  return { ...upload, readings: lost, refused: [] };
}

/** Refused readings that get a line each. */
const maxGapLines = 20;

function gapLines(component: string, refused: Upload['refused']): readonly string[] {
  const lines = refused
    .slice(0, maxGapLines)
    .map(({ index, reason }) => `sensor_contents[${index}] of ${component} was not stored: ${reason}`);
  const [next] = refused.slice(maxGapLines);
  return next === undefined
    ? lines
    : [...lines, `further readings of ${component}, from sensor_contents[${next.index}] on, were not stored`];
}

/** Removes a repeated upload's second payload, which belongs to no row, unless it is kept aside. If that fails, the sweep removes it. */
async function dropPayload({ ingestLog, blobs }: AcceptDeps, path: string): Promise<void> {
  // If the log cannot tell, the payload is left to the sweep.
  if (!(await ingestLog.hasBlob(path).catch(() => true))) await blobs.remove(path).catch(() => {});
}

/** The same id for all retries, even after the low-water mark has passed the upload and the log has forgotten it. */
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

/** A unique name for every attempt: a retry or a conflicting upload must never touch an acknowledged payload. */
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
