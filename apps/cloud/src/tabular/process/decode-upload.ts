/** One row of the ingest log to rows of the table `readings`. Only tabular uploads have any. */
import { fromBinary } from '@bufbuild/protobuf';
import { errorText } from '@platform/base';
import { DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { LoggedUploadSchema } from '@platform/proto/platform/ingest/v1/log';
import { WireReader } from '../../wire/wire-reader.ts';
import { type Series, seriesPathOf } from '../series.ts';
import { additionalParameters } from './additional-parameters.ts';
import { captureDay } from './capture-day.ts';
import { noTime, type RowBuffer } from './row-buffer.ts';
import { maxBsonBytes, writeStruct } from './struct-to-bson.ts';

/** Documents are written into blocks of this size, one after the other. */
const blockBytes = 1 << 20;
const emptyDocument = /* @__PURE__ */ Uint8Array.of(5, 0, 0, 0, 0);

/** Reused between uploads; a block that rows point into is never written again. */
export interface DecodeRoom {
  block: Uint8Array;
  used: number;
  /** Large documents are written here, one at a time. */
  large: Uint8Array;
}

export function newDecodeRoom(): DecodeRoom {
  return { block: new Uint8Array(0), used: 0, large: new Uint8Array(0) };
}

/** A reading that could not be loaded, by its index in the row of the log. */
export interface DamagedReading {
  readonly index: number;
  readonly reason: string;
}

/**
 * Appends the rows of a LoggedUpload to `rows`; answers the readings that are damaged, whose neighbours are in `rows` (I8).
 * `seriesId` names a series, the same number for equal ones.
 * Throws when the LoggedUpload itself cannot be read: the row of the log is damaged as a whole, and nothing was appended.
 */
export function decodeUpload(
  position: number,
  batch: Uint8Array,
  rows: RowBuffer,
  room: DecodeRoom,
  seriesId: (series: Series) => number,
): DamagedReading[] {
  const { metadata, place, timeSynced, readings } = fromBinary(LoggedUploadSchema, batch);
  if (metadata?.type !== DataType.TABULAR_SENSOR || readings.length === 0) return [];
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
  readings.forEach((reading, index) => {
    const row = rows.next();
    rows.position[row] = BigInt(position);
    rows.index[row] = index;
    rows.series[row] = series;
    rows.timeSynced[row] = syncedUs;
    rows.timeRequested[row] = noTime;
    rows.timeReceived[row] = noTime;
    try {
      const receivedMs = decodeReading(reading, rows, row, room);
      rows.captureDay[row] = captureDay(receivedMs, syncedMs);
    } catch (caught) {
      rows.truncate(row);
      damaged.push({ index, reason: errorText(caught) });
    }
  });
  return damaged;
}

/** SensorData {metadata = 1 {time_requested = 1, time_received = 2}, struct = 2}; answers time_received in milliseconds. */
function decodeReading(reading: Uint8Array, rows: RowBuffer, row: number, room: DecodeRoom): number | undefined {
  let receivedMs: number | undefined;
  let data: Uint8Array = emptyDocument;
  const wire = new WireReader(reading, 0, reading.length);
  while (wire.next()) {
    if (wire.type !== 2) continue;
    const { contentStart, contentEnd } = wire;
    if (wire.number === 1) {
      const times = new WireReader(reading, contentStart, contentEnd);
      while (times.next()) {
        if (times.type !== 2) continue;
        if (times.number === 1) rows.timeRequested[row] = microseconds(reading, times.contentStart, times.contentEnd);
        else if (times.number === 2) {
          rows.timeReceived[row] = microseconds(reading, times.contentStart, times.contentEnd);
          receivedMs = Number(rows.timeReceived[row]) / 1_000;
        }
      }
      checkWhole(times);
    } else if (wire.number === 2) {
      data = writtenStruct(reading, contentStart, contentEnd, room);
    }
  }
  checkWhole(wire);
  rows.data[row] = data;
  rows.dataBytes += data.length;
  return receivedMs;
}

/** A document may take five times its wire bytes, and mostly takes about as many: of a large one only what it took is kept. */
function writtenStruct(source: Uint8Array, start: number, end: number, room: DecodeRoom): Uint8Array {
  const need = maxBsonBytes(end - start);
  if (need > blockBytes) {
    if (room.large.length < need) room.large = new Uint8Array(need);
    return room.large.slice(0, writeStruct(source, start, end, room.large, 0));
  }
  if (room.used + need > room.block.length) {
    room.block = new Uint8Array(blockBytes);
    room.used = 0;
  }
  const from = room.used;
  room.used = writeStruct(source, start, end, room.block, from);
  return room.block.subarray(from, room.used);
}

/** Seconds outside the years 1 to 9999 are no Timestamp and count as the nearest one. */
function microseconds(source: Uint8Array, start: number, end: number): bigint {
  let seconds = 0;
  let nanos = 0;
  const wire = new WireReader(source, start, end);
  while (wire.next()) {
    if (wire.type !== 0) continue;
    if (wire.number === 1) seconds = wire.value;
    else if (wire.number === 2) nanos = wire.value;
  }
  checkWhole(wire);
  const clamped = Math.min(253_402_300_799, Math.max(-62_135_596_800, seconds));
  const fraction = Math.min(999_999, Math.max(0, Math.floor(nanos / 1_000)));
  return Math.abs(clamped) < 9e9
    ? BigInt(clamped * 1_000_000 + fraction)
    : BigInt(clamped) * 1_000_000n + BigInt(fraction);
}

function checkWhole(wire: WireReader): void {
  if (wire.broken) throw new Error('expected a SensorData message, found other bytes or a part of one');
}
