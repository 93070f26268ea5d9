/** Decodes one row of the ingest log to rows of the table `readings`. Only tabular uploads have any. */
import { errorText, type Steps } from '@platform/base';
import { DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { captureDay } from '../../../reading-codec/capture-day.ts';
import { openUpload } from '../../../reading-codec/open-upload.ts';
import { maxSeconds, minSeconds, SensorDataView } from '../../../reading-codec/sensor-data-view.ts';
import { type Series, seriesPathOf } from '../../catalog/series.ts';
import { additionalParameters } from '../rows/additional-parameters.ts';
import { noTime, type RowBuffer } from '../rows/row-buffer.ts';
import { maxBsonBytes, writeStruct } from '../rows/struct-to-bson.ts';

/** Documents are written into blocks of this size, one after another. */
const blockBytes = 1 << 20;
/** Decoded without interruption: at most about a millisecond. */
const [stepBytes, stepReadings] = [64 << 10, 1_024];
const emptyDocument = /* @__PURE__ */ Uint8Array.of(5, 0, 0, 0, 0);

/** Buffers reused between uploads; a block that rows point into is never overwritten. */
export interface DecodeBuffers {
  block: Uint8Array;
  used: number;
  /** Large documents are written here, one at a time. */
  large: Uint8Array;
}

export function newDecodeBuffers(): DecodeBuffers {
  return { block: new Uint8Array(0), used: 0, large: new Uint8Array(0) };
}

/** A reading that could not be loaded, by its index in the log row. */
export interface DamagedReading {
  readonly index: number;
  readonly reason: string;
}

/**
 * Appends the rows of a LoggedUpload to `rows`; returns the damaged readings, whose neighbours are in `rows` (I8). `seriesId` returns a
 * series' number, the same for equal series. Throws if the LoggedUpload itself cannot be read: the whole log row is then damaged, and
 * nothing was appended.
 */
export function* decodeUpload(
  position: number,
  batch: Uint8Array,
  rows: RowBuffer,
  buffers: DecodeBuffers,
  seriesId: (series: Series) => number,
): Steps<DamagedReading[]> {
  const upload = openUpload(batch);
  const { metadata } = upload;
  if (metadata?.type !== DataType.TABULAR_SENSOR || upload.readingCount === 0) return [];
  const { place, timeSynced } = upload;
  if (place === undefined) throw new Error('expected the place of the part beside the readings, found none');
  const series = seriesId({
    path: seriesPathOf(place, metadata),
    tags: metadata.tags,
    additionalParameters: additionalParameters(metadata.methodParameters),
  });
  if (timeSynced === undefined) throw new Error('expected the time of the upload beside the readings, found none');
  const syncedMs = Number(timeSynced.seconds) * 1_000 + Math.floor(timeSynced.nanos / 1e6);
  const syncedUs = timeSynced.seconds * 1_000_000n + BigInt(Math.floor(timeSynced.nanos / 1_000));
  const damaged: DamagedReading[] = [];
  const count = upload.readingCount;
  const position64 = BigInt(position);
  let stepEnd = stepBytes;
  for (let index = 0; index < count; index++) {
    if (upload.readingStart(index) > stepEnd || index % stepReadings === stepReadings - 1) {
      stepEnd = upload.readingStart(index) + stepBytes;
      yield;
    }
    const row = rows.next();
    rows.position[row] = position64;
    rows.index[row] = index;
    rows.series[row] = series;
    rows.timeSynced[row] = syncedUs;
    rows.timeRequested[row] = noTime;
    rows.timeReceived[row] = noTime;
    try {
      const receivedMs = decodeReading(batch, upload.readingStart(index), upload.readingEnd(index), rows, row, buffers);
      rows.captureDay[row] = captureDay(receivedMs, syncedMs);
    } catch (caught) {
      rows.truncate(row);
      damaged.push({ index, reason: errorText(caught) });
    }
  }
  return damaged;
}

const view = /* @__PURE__ */ new SensorDataView();

/** Decodes the SensorData in batch[start..end); returns time_received in milliseconds. */
function decodeReading(
  batch: Uint8Array,
  start: number,
  end: number,
  rows: RowBuffer,
  row: number,
  buffers: DecodeBuffers,
): number | undefined {
  view.read(batch, start, end);
  const { requestedSeconds, receivedSeconds } = view;
  if (!view.isWhole || !view.isMetadataWhole || Number.isNaN(requestedSeconds) || Number.isNaN(receivedSeconds))
    throw new Error('expected a SensorData message, found other bytes or a part of one');
  if (view.hasRequested) rows.timeRequested[row] = microseconds(requestedSeconds, view.requestedNanos);
  if (view.hasReceived) rows.timeReceived[row] = microseconds(receivedSeconds, view.receivedNanos);
  const data =
    view.kind === 'struct' ? writtenStruct(batch, view.contentStart, view.contentEnd, buffers) : emptyDocument;
  rows.data[row] = data;
  rows.dataBytes += data.length;
  return view.receivedMs ?? undefined;
}

/**
 * A document usually takes about as many bytes as on the wire, but may take up to five times as many. For a large one only the bytes used
 * are kept.
 */
function writtenStruct(source: Uint8Array, start: number, end: number, buffers: DecodeBuffers): Uint8Array {
  if (start === end) return emptyDocument;
  const need = maxBsonBytes(end - start);
  if (need > blockBytes) {
    if (buffers.large.length < need) buffers.large = new Uint8Array(need);
    return buffers.large.slice(0, writeStruct(source, start, end, buffers.large, 0));
  }
  if (buffers.used + need > buffers.block.length) {
    buffers.block = new Uint8Array(blockBytes);
    buffers.used = 0;
  }
  const from = buffers.used;
  buffers.used = writeStruct(source, start, end, buffers.block, from);
  return buffers.block.subarray(from, buffers.used);
}

/** Seconds outside the years 1 to 9999 are not a valid Timestamp; they are clamped. */
function microseconds(seconds: number, nanos: number): bigint {
  const clamped = Math.min(maxSeconds, Math.max(minSeconds, seconds));
  const fraction = Math.min(999_999, Math.max(0, Math.floor(nanos / 1_000)));
  return Math.abs(clamped) < 9e9
    ? BigInt(clamped * 1_000_000 + fraction)
    : BigInt(clamped) * 1_000_000n + BigInt(fraction);
}
