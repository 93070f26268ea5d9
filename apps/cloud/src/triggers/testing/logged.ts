/** Rows of the log as ingest writes them, for tests. */
import { create, type JsonObject, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  DataType,
  SensorDataSchema,
  type UploadMetadataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import { LoggedUploadSchema } from '@platform/proto/platform/ingest/v1/log';

export interface UploadShape {
  readonly partId?: string;
  readonly fileId?: string;
  readonly type?: DataType;
  readonly syncedAtMs?: number;
  readonly metadata?: MessageInitShape<typeof UploadMetadataSchema>;
  /** Documents of its readings; a `Uint8Array` is a binary reading. */
  readonly readings?: readonly (JsonObject | Uint8Array)[];
  /** Receive time of the first reading; each further one is a second later. They are requested 5 ms earlier. */
  readonly receivedAtMs?: number;
}

/** A LoggedUpload; by default tabular, from `sensor:cpu:Readings`, with one reading. */
export function logged(shape: UploadShape = {}): Uint8Array {
  const { partId = 'part', fileId = 'file', type = DataType.TABULAR_SENSOR, syncedAtMs = 1_000_000 } = shape;
  const { metadata = {}, readings = [{ readings: { load: 1 } }], receivedAtMs = 900_000 } = shape;
  return toBinary(
    LoggedUploadSchema,
    create(LoggedUploadSchema, {
      metadata: {
        partId,
        componentType: 'core:component:sensor',
        componentName: 'cpu',
        methodName: 'Readings',
        type,
        ...(metadata as object),
      },
      place: {
        organizationId: 'org',
        organizationName: 'Organization',
        locationId: 'loc',
        locationName: 'Location',
        robotId: 'robot',
        robotName: 'Machine',
        partId,
        partName: 'main',
      },
      timeSynced: timestampFromMs(syncedAtMs),
      fileId,
      readings: readings.map((reading, index) => {
        const at = receivedAtMs + index * 1_000;
        return toBinary(
          SensorDataSchema,
          create(SensorDataSchema, {
            metadata: { timeRequested: timestampFromMs(at - 5), timeReceived: timestampFromMs(at) },
            data:
              reading instanceof Uint8Array ? { case: 'binary', value: reading } : { case: 'struct', value: reading },
          }),
        );
      }),
    }),
  );
}
