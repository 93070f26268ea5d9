/** Encodes an upload as a row of the log, and computes the hash by which its retries are recognised. */
import { createHash, type Hash } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Steps } from '@platform/base';
import type { UploadMetadata } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { LoggedUploadSchema } from '@platform/proto/platform/ingest/v1/log';
import { copyRange } from '../../reading-codec/copy-range.ts';
import { encodeUploadInSteps } from '../../reading-codec/encode-upload.ts';
import type { ReadingRanges } from '../../reading-codec/reading-ranges.ts';
import type { Place } from '../place.ts';
import { canonicalReading, sortDocuments } from './canonical-reading.ts';
import { countAtArrival } from './count-at-arrival.ts';
import type { RefusedReading } from './partition-readings.ts';

export interface Upload {
  readonly metadata: UploadMetadata;
  /** Each is an encoded SensorData. */
  readonly readings: ReadingRanges;
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
export function* encodeBatch(upload: Upload, { place, timeSyncedMs, fileId }: Acceptance): Steps<Uint8Array> {
  const { metadata, readings, refused, blob } = upload;
  const head = {
    metadata,
    place,
    timeSynced: timestampFromMs(timeSyncedMs),
    fileId,
    gaps: refused.map(({ index, sizeBytes, reason }) => ({ index, sizeBytes: BigInt(sizeBytes), reason })),
    ...(blob && { blob: { path: blob.path, sizeBytes: BigInt(blob.sizeBytes), sha256: blob.sha256 } }),
  };
  const timed = upload.untimed === true ? yield* countAtArrival(readings, timeSyncedMs) : readings;
  return yield* encodeUploadInSteps(head, timed);
}

/**
 * SHA-256 of what the sender sent, without anything that the cloud adds or that differs between retries.
 * @param reordered the sender may encode the same documents in another order next time (public clients, D13)
 */
export function* uploadHash({ metadata, readings, refused, blob }: Upload, reordered: boolean): Steps<Uint8Array> {
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
  const lengths = new Uint32Array(readings.count + 1);
  lengths[0] = fixed.length;
  for (let index = 0; index < readings.count; index++) lengths[index + 1] = readings.end(index) - readings.start(index);
  yield* updateWith(hash, new Uint8Array(lengths.buffer));
  hash.update(fixed);
  yield* updateWithReadings(hash, readings, reordered);
  return new Uint8Array(hash.digest());
}

const bytesPerStep = 1 << 20;

function* updateWith(hash: Hash, bytes: Uint8Array): Steps<void> {
  for (let at = 0; at < bytes.length; at += bytesPerStep) {
    hash.update(bytes.subarray(at, at + bytesPerStep));
    if (at + bytesPerStep < bytes.length) yield;
  }
}

/** Readings are collected here: hashing each with its own update takes longer than the hashing itself, and copying each leaves garbage. */
const gathered = /* @__PURE__ */ new Uint8Array(64 << 10);

const readingsPerStep = 4_096;

function* updateWithReadings(hash: Hash, readings: ReadingRanges, reordered: boolean): Steps<void> {
  const { bytes, count } = readings;
  let used = 0;
  for (let index = 0; index < count; index++) {
    const [start, end] = [readings.start(index), readings.end(index)];
    const length = end - start;
    if (length > gathered.length - used || index % readingsPerStep === readingsPerStep - 1) {
      hash.update(gathered.subarray(0, used));
      // Empty while others run, who collect their readings here too.
      used = 0;
      yield;
    }
    if (length > gathered.length) {
      yield* updateWith(hash, reordered ? yield* canonicalReading(readings.at(index)) : readings.at(index));
      continue;
    }
    const from = used;
    used = copyRange(bytes, start, end, gathered, used);
    if (reordered) sortDocuments(gathered, from, used);
  }
  hash.update(gathered.subarray(0, used));
}
