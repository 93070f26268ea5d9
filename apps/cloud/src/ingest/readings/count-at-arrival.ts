/** Gives a reading without times its arrival time. */
import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { concatBytes } from '@platform/base';
import {
  RawDataCaptureUploadRequestSchema,
  SensorMetadataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import { SensorDataView } from '../../reading-codec/sensor-data-view.ts';

const view = /* @__PURE__ */ new SensorDataView();

/** The SensorData of a document with both times. A missing time is copied from the other; if both are missing, they are `arrivalMs`. */
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
  // Fields 1 and 2 are those of SensorData; the document's bytes do not change.
  return toBinary(
    RawDataCaptureUploadRequestSchema,
    create(RawDataCaptureUploadRequestSchema, {
      metadata: concatBytes([given, toBinary(SensorMetadataSchema, missing)]),
      sensorContents: [reading.subarray(view.contentStart, view.contentEnd)],
    }),
  );
}
