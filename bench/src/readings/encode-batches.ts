import { create, type JsonObject, toBinary } from '@bufbuild/protobuf';
import {
  DataCaptureUploadRequestSchema,
  DataType,
  type SensorData,
  SensorDataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';

export interface BatchOptions {
  readonly partId: string;
  /** 16 random bytes. */
  readonly stream: Uint8Array;
  readonly batches: number;
  readonly readingsEach: number;
  /** How many uploads may be in flight at once: the low-water mark (I6) stays that far behind. */
  readonly inFlight: number;
  /** The content of the nth upload, from 0. Default: component `bench`, numbered by `n` from 0. */
  readonly uploadOf?: (batch: number) => Upload;
}

export interface Upload {
  readonly partId: string;
  readonly componentName: string;
  /** The reading at an index, from 0. */
  readonly reading: (index: number) => SensorData;
}

/** Uploads of distinct readings of about 130 bytes each, as DataCaptureUploadRequest bytes. */
export function encodeBatches(options: BatchOptions): Uint8Array[] {
  const { stream, batches, readingsEach, inFlight } = options;
  const numbered = (batch: number): Upload => ({
    partId: options.partId,
    componentName: 'bench',
    reading: (index) => reading(batch * readingsEach + index),
  });
  const { uploadOf = numbered } = options;
  return Array.from({ length: batches }, (_, batch) => {
    const seq = batch + 1;
    const upload = uploadOf(batch);
    const sensorContents = Array.from({ length: readingsEach }, (_, index) => upload.reading(index));
    const identity = { stream, seq: BigInt(seq), floor: BigInt(Math.max(1, seq - inFlight)) };
    const metadata = {
      partId: upload.partId,
      componentType: 'core:component:sensor',
      componentName: upload.componentName,
      methodName: 'Readings',
      type: DataType.TABULAR_SENSOR,
      fileName: `bench-${seq}.prog`,
      fileExtension: '.dat',
      identity,
    };
    return toBinary(
      DataCaptureUploadRequestSchema,
      create(DataCaptureUploadRequestSchema, { metadata, sensorContents }),
    );
  });
}

/** A microsecond apart, as a machine would stamp them. */
function reading(n: number): SensorData {
  const requestedUs = Date.now() * 1_000 + (n % 1_000);
  const readings = { n, temperature: 20 + Math.sin(n / 1_000), humidity: 40 + (n % 977) / 31, door: n % 2 === 0 };
  return sensorData(requestedUs, readings);
}

export function sensorData(requestedUs: number, readings: JsonObject): SensorData {
  return create(SensorDataSchema, {
    metadata: { timeRequested: timestamp(requestedUs), timeReceived: timestamp(requestedUs + 500) },
    data: { case: 'struct', value: { readings } },
  });
}

function timestamp(us: number): { seconds: bigint; nanos: number } {
  return { seconds: BigInt(Math.floor(us / 1e6)), nanos: (us % 1e6) * 1_000 };
}
