/** Opens a row of the ingest log without decoding its readings: most triggers look at few of them, or at none. */
import { fromBinary } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { TimestampSchema, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { PlatformError } from '@platform/base';
import {
  DataType,
  type UploadMetadata,
  UploadMetadataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import { type Place, PlaceSchema } from '@platform/proto/platform/ingest/v1/log';
import type { DataTypeName } from './trigger.ts';

export interface OpenedUpload {
  readonly metadata: UploadMetadata;
  readonly dataType: DataTypeName;
  readonly place: Place;
  /** When the cloud accepted it, ms: the time of its events. */
  readonly syncedAtMs: number;
  readonly fileId: string;
  /** SensorData each, encoded. */
  readonly readings: readonly Uint8Array[];
}

const dataTypes: Readonly<Record<DataType, DataTypeName>> = {
  [DataType.UNSPECIFIED]: 'unspecified',
  [DataType.BINARY_SENSOR]: 'binary',
  [DataType.TABULAR_SENSOR]: 'tabular',
  [DataType.FILE]: 'file',
};

/** @param batch LoggedUpload. Throws data_loss when it is none. */
export function readUpload(batch: Uint8Array): OpenedUpload {
  let metadata: UploadMetadata | undefined;
  let place: Place | undefined;
  let synced = timestampFromMs(0);
  let fileId = '';
  const readings: Uint8Array[] = [];
  const reader = new BinaryReader(batch);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1) metadata = fromBinary(UploadMetadataSchema, reader.bytes());
    else if (field === 2) place = fromBinary(PlaceSchema, reader.bytes());
    else if (field === 3) synced = fromBinary(TimestampSchema, reader.bytes());
    else if (field === 4) fileId = reader.string();
    else if (field === 5) readings.push(reader.bytes());
    else reader.skip(wireType, field);
  }
  if (metadata === undefined || place === undefined || fileId === '') {
    throw new PlatformError(
      'data_loss',
      'expected a logged upload with metadata, place and file id, found one without',
    );
  }
  const dataType = dataTypes[metadata.type] ?? 'unspecified';
  return { metadata, dataType, place, syncedAtMs: timestampMs(synced), fileId, readings };
}
