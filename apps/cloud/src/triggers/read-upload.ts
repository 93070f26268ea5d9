/** Reads a row of the log as the input of triggers. Readings stay encoded, because most triggers read few of them or none. */
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { dataLoss } from '@platform/base';
import { DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { LogRow } from '../ingest/log/log.ts';
import { leastJsonBytes } from '../reading-codec/least-json-bytes.ts';
import { type OpenedUpload, openUpload } from '../reading-codec/open-upload.ts';
import { readDocument } from '../reading-codec/read-document.ts';
import { SensorDataView } from '../reading-codec/sensor-data-view.ts';
import type { UploadInput, UploadReadings } from './input.ts';

const dataTypes: Readonly<Partial<Record<DataType, UploadInput['dataType']>>> = {
  [DataType.BINARY_SENSOR]: 'binary',
  [DataType.TABULAR_SENSOR]: 'tabular',
  [DataType.FILE]: 'file',
};

/** Throws data_loss when the batch is not a LoggedUpload. */
export function readUpload({ batch, partId, position }: Pick<LogRow, 'batch' | 'partId' | 'position'>): UploadInput {
  const upload = openUpload(batch);
  const { metadata, place, timeSynced, fileId } = upload;
  if (metadata === undefined || place === undefined || fileId === '') {
    throw dataLoss('expected a logged upload with metadata, place and file id, found one without');
  }
  const dataType = dataTypes[metadata.type];
  if (dataType === undefined)
    throw dataLoss(`expected a logged upload with a type, found one of type ${metadata.type}`);
  const { organizationId, organizationName, locationId, locationName, robotId, robotName, partName } = place;
  return {
    kind: 'upload',
    position,
    atMs: timeSynced === undefined ? 0 : timestampMs(timeSynced),
    place: { organizationId, organizationName, locationId, locationName, robotId, robotName, partId, partName },
    metadata,
    dataType,
    isUnspecified: metadata.typeByContent,
    fileId,
    readings: encodedReadings(upload, dataType),
  };
}

/** Reused, so that scanning a reading creates no objects. */
const view = /* @__PURE__ */ new SensorDataView();

function encodedReadings(upload: OpenedUpload, dataType: UploadInput['dataType']): UploadReadings {
  const lookAt = (index: number, withTimes: boolean): void => {
    view.read(upload.bytes, upload.readingStart(index), upload.readingEnd(index), withTimes);
    if (!view.isWhole) throw dataLoss('expected a SensorData message, found other bytes or a part of one');
  };
  const hasDocuments = dataType !== 'binary' && dataType !== 'file';
  return {
    count: upload.readingCount,
    document(index, only) {
      if (!hasDocuments) return undefined;
      lookAt(index, false);
      return view.kind === 'struct' ? readDocument(upload.bytes, view.contentStart, view.contentEnd, only) : undefined;
    },
    leastJsonBytes(index) {
      lookAt(index, false);
      return view.kind === 'struct' ? leastJsonBytes(upload.bytes, view.contentStart, view.contentEnd) : 0;
    },
    times(index) {
      lookAt(index, true);
      return { receivedMs: view.receivedMs, requestedMs: view.requestedMs };
    },
  };
}
