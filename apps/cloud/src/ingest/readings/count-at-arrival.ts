/** A reading whose sender told no times counts at its arrival. */
import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { concatBytes } from '@platform/base';
import {
  RawDataCaptureUploadRequestSchema,
  SensorMetadataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import { SensorDataView } from '../../reading-codec/sensor-data-view.ts';

const view = /* @__PURE__ */ new SensorDataView();

/** The SensorData of a document with both times: if one of them is missing it is the other one, if both are it is `arrivalMs`. */
export function countAtArrival(reading: Uint8Array, arrivalMs: number): Uint8Array {
  view.read(reading, 0, reading.length);
  const { hasRequested, hasReceived, requestedMs, receivedMs } = view;
  if (hasRequested && hasReceived) return reading;
  const known = timestampFromMs(requestedMs ?? receivedMs ?? arrivalMs);
  const missing = create(SensorMetadataSchema, {
    ...(!hasRequested && { timeRequested: known }),
    ...(!hasReceived && { timeReceived: known }),
  });
  const given = view.metadataEnd < 0 ? new Uint8Array() : reading.subarray(view.metadataStart, view.metadataEnd);
  // Fields 1 and 2 are those of SensorData; the document stays as it was sent.
  return toBinary(
    RawDataCaptureUploadRequestSchema,
    create(RawDataCaptureUploadRequestSchema, {
      metadata: concatBytes([given, toBinary(SensorMetadataSchema, missing)]),
      sensorContents: [reading.subarray(view.contentStart, view.contentEnd)],
    }),
  );
}
