/** Encodes a binary reading as a SensorData, and determines extension and MIME type of its file. */
import { create, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { concatBytes } from '@platform/base';
import { AnnotationsSchema } from '@platform/proto/platform/app/data/v1/data';
import { SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { BinaryReading } from '@platform/resources';
import { timestampOf } from '../gaps/lost-readings.ts';
import type { BinaryFile } from './series.ts';

/** The extensions that public machine-servers use; files of other types have none. */
const extensions: Readonly<Record<string, string>> = {
  'image/jpeg': '.jpeg',
  'image/png': '.png',
  'pointcloud/pcd': '.pcd',
  'audio/wav': '.wav',
  'audio/mpeg': '.mp3',
  'video/mp4': '.mp4',
};

const binaryField = SensorDataSchema.field.binary.number;

export function binaryFile(mimeType: string): BinaryFile {
  return { mimeType, fileExtension: extensions[mimeType] ?? '' };
}

/** The readings of one group have the same times. */
export function encodeBinary(
  { bytes, annotations }: BinaryReading,
  requestedMicros: number,
  receivedMicros: number,
): Uint8Array {
  const isAnnotated = [annotations?.bboxes, annotations?.classifications].some((list) => (list?.length ?? 0) > 0);
  const metadata = create(SensorDataSchema, {
    metadata: {
      timeRequested: timestampOf(requestedMicros),
      timeReceived: timestampOf(receivedMicros),
      ...(isAnnotated && { annotations: create(AnnotationsSchema, annotations) }),
    },
  });
  // Copies the bytes once; the message encoder would copy them twice, into a buffer of up to twice the size.
  const length = new BinaryWriter().tag(binaryField, WireType.LengthDelimited).uint32(bytes.length).finish();
  return concatBytes([toBinary(SensorDataSchema, metadata), length, bytes]);
}
