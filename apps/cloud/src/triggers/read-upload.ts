/** The fields of a log row that triggers look at. Readings stay encoded, because most triggers look at few of them or none. */
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { PlatformError } from '@platform/base';
import { DataType, type UploadMetadata } from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { Place } from '@platform/proto/platform/ingest/v1/log';
import { type OpenedUpload, openUpload } from '../reading-codec/open-upload.ts';

export type DataTypeName = 'binary' | 'tabular' | 'file' | 'unspecified';

export interface ReadUpload {
  readonly metadata: UploadMetadata;
  readonly dataType: DataTypeName;
  readonly place: Place;
  /** When the cloud accepted it, ms; the time of its events. */
  readonly syncedAtMs: number;
  readonly fileId: string;
  readonly readings: Pick<OpenedUpload, 'bytes' | 'readingCount' | 'readingStart' | 'readingEnd'>;
}

const dataTypes: Readonly<Record<DataType, DataTypeName>> = {
  [DataType.UNSPECIFIED]: 'unspecified',
  [DataType.BINARY_SENSOR]: 'binary',
  [DataType.TABULAR_SENSOR]: 'tabular',
  [DataType.FILE]: 'file',
};

/** @param batch LoggedUpload. Throws data_loss when it is not one. */
export function readUpload(batch: Uint8Array): ReadUpload {
  const upload = openUpload(batch);
  const { metadata, place, timeSynced, fileId } = upload;
  if (metadata === undefined || place === undefined || fileId === '') {
    throw new PlatformError(
      'data_loss',
      'expected a logged upload with metadata, place and file id, found one without',
    );
  }
  const dataType = dataTypes[metadata.type] ?? 'unspecified';
  const syncedAtMs = timeSynced === undefined ? 0 : timestampMs(timeSynced);
  return { metadata, dataType, place, syncedAtMs, fileId, readings: upload };
}
