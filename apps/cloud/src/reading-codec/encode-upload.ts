/** Encodes a row of the ingest log (LoggedUpload); open-upload.ts decodes it. */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { runToEnd, type Steps, varintBytes, writeVarint } from '@platform/base';
import { LoggedUploadSchema } from '@platform/proto/platform/ingest/v1/log';
import { copyRange } from './copy-range.ts';
import { ReadingRanges } from './reading-ranges.ts';

export type UploadHead = Omit<MessageInitShape<typeof LoggedUploadSchema>, '$typeName' | 'readings'>;

// LoggedUpload.readings = 5, length-delimited.
const readingTag = 0x2a;
const readingsPerStep = 1_024;
const bytesPerStep = 1 << 20;

/** @param readings encoded SensorData; placed last */
export function encodeUpload(head: UploadHead, readings: readonly Uint8Array[]): Uint8Array {
  return runToEnd(encodeUploadInSteps(head, ReadingRanges.of(readings)));
}

/** Encodes the readings by hand, so that a thousand readings are copied only once. */
export function* encodeUploadInSteps(upload: UploadHead, readings: ReadingRanges): Steps<Uint8Array> {
  const head = toBinary(LoggedUploadSchema, create(LoggedUploadSchema, upload));
  const { count, totalBytes } = readings;
  let length = head.length + totalBytes;
  /** Between two readings there is only the header of the second, of the same length as in the row. */
  let isPacked = count > 0;
  for (let index = 0; index < count; index++) {
    if (index % readingsPerStep === readingsPerStep - 1) yield;
    const header = headerBytes(readings, index);
    length += header;
    isPacked &&= index === 0 || readings.start(index) - readings.end(index - 1) === header;
  }
  const batch = new Uint8Array(length);
  batch.set(head);
  yield* isPacked ? copyPacked(readings, batch, head.length) : copyEach(readings, batch, head.length);
  return batch;
}

function headerBytes(readings: ReadingRanges, index: number): number {
  return 1 + varintBytes(readings.end(index) - readings.start(index));
}

function writeHeader(readings: ReadingRanges, index: number, batch: Uint8Array, at: number): number {
  batch[at] = readingTag;
  return writeVarint(batch, at + 1, readings.end(index) - readings.start(index));
}

/** As they were sent, only the tags differ. */
function* copyPacked(readings: ReadingRanges, batch: Uint8Array, from: number): Steps<void> {
  const { bytes, count } = readings;
  const start = readings.start(0);
  const end = readings.end(count - 1);
  const shift = writeHeader(readings, 0, batch, from) - start;
  for (let at = start; at < end; at += bytesPerStep) {
    if (at > start) yield;
    batch.set(bytes.subarray(at, Math.min(at + bytesPerStep, end)), at + shift);
  }
  for (let index = 1; index < count; index++) {
    batch[readings.end(index - 1) + shift] = readingTag;
    if (index % readingsPerStep === 0) yield;
  }
}

function* copyEach(readings: ReadingRanges, batch: Uint8Array, from: number): Steps<void> {
  const { bytes, count } = readings;
  let at = from;
  let copied = 0;
  for (let index = 0; index < count; index++) {
    const [start, end] = [readings.start(index), readings.end(index)];
    at = copyRange(bytes, start, end, batch, writeHeader(readings, index, batch, at));
    copied += end - start;
    if (index % readingsPerStep === readingsPerStep - 1 || copied >= bytesPerStep) {
      copied = 0;
      yield;
    }
  }
}
