/** Uploads as machines send them, and the log's records of them. */
import { create, fromBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  DataType,
  type SensorData,
  SensorDataSchema,
  type UploadMetadataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import { type LoggedUpload, LoggedUploadSchema } from '@platform/proto/platform/ingest/v1/log';
import type { IngestLog } from '../log/log.ts';

export type MetadataInit = MessageInitShape<typeof UploadMetadataSchema>;

export const takenMs = Date.UTC(2026, 2, 4, 5, 6, 7, 890);
export const times = { timeRequested: timestampFromMs(takenMs - 5), timeReceived: timestampFromMs(takenMs) };
export const stream = new Uint8Array(16).fill(7);

export function metadata(more: MetadataInit = {}): MetadataInit {
  return {
    partId: 'part-1',
    componentType: 'rdk:component:sensor',
    componentName: 'thermometer',
    methodName: 'Readings',
    type: DataType.TABULAR_SENSOR,
    tags: ['lab'],
    ...more,
  };
}

export function reading(value: number | string, more: object = { metadata: times }): SensorData {
  return create(SensorDataSchema, { ...more, data: { case: 'struct', value: { readings: { celsius: value } } } });
}

export async function logged(log: IngestLog): Promise<LoggedUpload[]> {
  return (await log.read(0, { rows: 1_000, bytes: 2 ** 30 })).map(({ batch }) => fromBinary(LoggedUploadSchema, batch));
}

export function celsius(upload: LoggedUpload): unknown[] {
  return upload.readings.map((bytes) => {
    const { data } = fromBinary(SensorDataSchema, bytes);
    const readings = data.case === 'struct' ? data.value['readings'] : undefined;
    return typeof readings === 'object' && readings !== null && 'celsius' in readings ? readings['celsius'] : undefined;
  });
}

export async function refusal(answer: Promise<unknown>): Promise<{ code: string; message: string }> {
  return answer.then(
    () => ({ code: 'ok', message: '' }),
    ({ code, message }) => ({ code, message }),
  );
}
