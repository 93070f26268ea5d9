/** Encodes an upload as a row of the log, and computes the hash by which its retries are recognised. */
import { createHash, type Hash } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { UploadMetadata } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { LoggedUploadSchema } from '@platform/proto/platform/ingest/v1/log';
import { encodeUpload } from '../../reading-codec/encode-upload.ts';
import type { Place } from '../place.ts';
import { canonicalReading, sortDocuments } from './canonical-reading.ts';
import { countAtArrival } from './count-at-arrival.ts';
import type { RefusedReading } from './partition-readings.ts';

export interface Upload {
  readonly metadata: UploadMetadata;
  /** Each is an encoded SensorData. */
  readonly readings: readonly Uint8Array[];
  readonly refused: readonly RefusedReading[];
  /** Some reading lacks a time. */
  readonly untimed?: boolean;
  readonly blob: { readonly path: string; readonly sizeBytes: number; readonly sha256: Uint8Array } | null;
}

export interface Acceptance {
  readonly place: Place;
  readonly timeSyncedMs: number;
  readonly fileId: string;
}

/** Encodes a LoggedUpload. */
export function encodeBatch(upload: Upload, { place, timeSyncedMs, fileId }: Acceptance): Uint8Array {
  const { metadata, readings, refused, blob } = upload;
  const rest = {
    metadata,
    place,
    timeSynced: timestampFromMs(timeSyncedMs),
    fileId,
    gaps: refused.map(({ index, sizeBytes, reason }) => ({ index, sizeBytes: BigInt(sizeBytes), reason })),
    ...(blob && { blob: { path: blob.path, sizeBytes: BigInt(blob.sizeBytes), sha256: blob.sha256 } }),
  };
  if (upload.untimed !== true) return encodeUpload(rest, readings);
  return encodeUpload(
    rest,
    readings.map((reading) => countAtArrival(reading, timeSyncedMs)),
  );
}

/**
 * SHA-256 of what the sender sent, without anything that the cloud adds or that differs between retries.
 * @param reordered the sender may encode the same documents in another order next time (public clients, D13)
 */
export function uploadHash({ metadata, readings, refused, blob }: Upload, reordered: boolean): Uint8Array {
  const hash = createHash('sha256');
  const fixed = toBinary(
    LoggedUploadSchema,
    create(LoggedUploadSchema, {
      metadata,
      gaps: refused.map(({ index, sizeBytes }) => ({ index, sizeBytes: BigInt(sizeBytes) })),
      ...(blob && { blob: { sizeBytes: BigInt(blob.sizeBytes), sha256: blob.sha256 } }),
    }),
  );
  // Lengths come first, so that two different lists of readings never give the same bytes.
  const lengths = new Uint32Array(readings.length + 1);
  lengths[0] = fixed.length;
  for (let index = 0; index < readings.length; index++) lengths[index + 1] = (readings[index] as Uint8Array).length;
  hash.update(lengths);
  hash.update(fixed);
  updateWith(hash, readings, reordered);
  return new Uint8Array(hash.digest());
}

/** Readings are collected here: hashing each with its own update takes longer than the hashing itself, and copying each leaves garbage. */
const gathered = /* @__PURE__ */ new Uint8Array(64 << 10);

function updateWith(hash: Hash, readings: readonly Uint8Array[], reordered: boolean): void {
  let used = 0;
  const flush = (): void => {
    hash.update(gathered.subarray(0, used));
    used = 0;
  };
  for (const reading of readings) {
    const { length } = reading;
    if (length > gathered.length - used) flush();
    if (length > gathered.length) {
      hash.update(reordered ? canonicalReading(reading) : reading);
      continue;
    }
    gathered.set(reading, used);
    if (reordered) sortDocuments(gathered, used, used + length);
    used += length;
  }
  flush();
}
