/** Gives readings without times their arrival time. */
import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Steps, writeVarint } from '@platform/base';
import { SensorMetadataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { copyRange } from '../../reading-codec/copy-range.ts';
import { ReadingRanges } from '../../reading-codec/reading-ranges.ts';
import { SensorDataView } from '../../reading-codec/sensor-data-view.ts';

const view = /* @__PURE__ */ new SensorDataView();
const readingsPerStep = 256;
const bytesPerStep = 1 << 20;
// SensorData.metadata = 1 and .struct = 2, length-delimited.
const [metadataTag, structTag] = [0x0a, 0x12];
/** Two times, two tags and two lengths. */
const maxAddedBytes = 64;

/** The SensorData of documents with both times. A missing time is copied from the other; if both are missing, they are `arrivalMs`. */
export function* countAtArrival(readings: ReadingRanges, arrivalMs: number): Steps<ReadingRanges> {
  const { bytes, count, totalBytes } = readings;
  const missing = missingTimes(arrivalMs);
  const written = new Uint8Array(totalBytes + count * maxAddedBytes);
  const timed = new ReadingRanges(written);
  let at = 0;
  let step = 0;
  for (let index = 0; index < count; index++) {
    const start = at;
    view.read(bytes, readings.start(index), readings.end(index));
    const { hasRequested, hasReceived, metadataStart, metadataEnd, contentStart, contentEnd } = view;
    if (hasRequested && hasReceived) at = copyRange(bytes, readings.start(index), readings.end(index), written, at);
    else {
      const added = missing(view);
      // -1: there is no metadata.
      const givenEnd = Math.max(metadataStart, metadataEnd);
      at = writeLength(written, at, metadataTag, givenEnd - metadataStart + added.length);
      at = copyRange(bytes, metadataStart, givenEnd, written, at);
      at = copyRange(added, 0, added.length, written, at);
      // The document's bytes do not change.
      at = writeLength(written, at, structTag, contentEnd - contentStart);
      at = copyRange(bytes, contentStart, contentEnd, written, at);
    }
    timed.add(start, at);
    step += at - start;
    if (index % readingsPerStep === readingsPerStep - 1 || step >= bytesPerStep) {
      step = 0;
      yield;
    }
  }
  return timed;
}

/** Encodes the missing times of a reading; those of readings without any are all the same. */
function missingTimes(arrivalMs: number): (reading: SensorDataView) => Uint8Array {
  const encode = ({ hasRequested, hasReceived, requestedMs, receivedMs }: SensorDataView): Uint8Array => {
    const known = timestampFromMs(requestedMs ?? receivedMs ?? arrivalMs);
    const times = { ...(!hasRequested && { timeRequested: known }), ...(!hasReceived && { timeReceived: known }) };
    return toBinary(SensorMetadataSchema, create(SensorMetadataSchema, times));
  };
  let both: Uint8Array | undefined;
  return (reading) => {
    if (reading.hasRequested || reading.hasReceived) return encode(reading);
    both ??= encode(reading);
    return both;
  };
}

function writeLength(bytes: Uint8Array, at: number, tag: number, length: number): number {
  bytes[at] = tag;
  return writeVarint(bytes, at + 1, length);
}
