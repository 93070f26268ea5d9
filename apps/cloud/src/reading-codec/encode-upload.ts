/** Encodes a row of the ingest log (LoggedUpload); open-upload.ts decodes it. */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { varintBytes, writeVarint } from '@platform/base';
import { LoggedUploadSchema } from '@platform/proto/platform/ingest/v1/log';

// LoggedUpload.readings = 5, length-delimited.
const readingTag = 0x2a;

/** Encodes the readings by hand, so that a thousand readings are copied only once. @param readings encoded SensorData; placed last */
export function encodeUpload(
  rest: Omit<MessageInitShape<typeof LoggedUploadSchema>, '$typeName' | 'readings'>,
  readings: readonly Uint8Array[],
): Uint8Array {
  const head = toBinary(LoggedUploadSchema, create(LoggedUploadSchema, rest));
  let length = head.length;
  for (const reading of readings) length += 1 + varintBytes(reading.length) + reading.length;
  const batch = new Uint8Array(length);
  batch.set(head);
  let at = head.length;
  for (const reading of readings) {
    batch[at++] = readingTag;
    at = writeVarint(batch, at, reading.length);
    batch.set(reading, at);
    at += reading.length;
  }
  return batch;
}
