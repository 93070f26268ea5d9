/** One row of the ingest log to rows of the table `readings`. Only tabular uploads have any. */
import { fromBinary } from '@bufbuild/protobuf';
import { DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { LoggedUploadSchema } from '@platform/proto/platform/ingest/v1/log';
import type { Series } from '../series.ts';
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
}

export function newDecodeRoom(): DecodeRoom {
  return { block: new Uint8Array(0), used: 0 };
}

/**
 * Appends the rows of a LoggedUpload to `rows`. `seriesId` names a series, the same number for equal ones.
 * Throws when the bytes cannot be read; the caller then truncates `rows` (the row of the log is damaged as a whole, I8).
 */
export function decodeUpload(
  position: number,
  batch: Uint8Array,
  rows: RowBuffer,
  room: DecodeRoom,
  seriesId: (series: Series) => number,
): void {
  const { metadata, place, timeSynced, readings } = fromBinary(LoggedUploadSchema, batch);
  if (metadata?.type !== DataType.TABULAR_SENSOR || readings.length === 0) return;
  if (place === undefined) throw new Error('expected the place of the part beside the readings, found none');
  const series = seriesId({
    path: {
      organization_id: place.organizationId,
      location_id: place.locationId,
      robot_id: place.robotId,
      part_id: place.partId,
      component_type: metadata.componentType,
      component_name: metadata.componentName,
      method_name: metadata.methodName,
    },
    tags: metadata.tags,
    additionalParameters: additionalParameters(metadata.methodParameters),
  });
  if (timeSynced === undefined) throw new Error('expected the time of the upload beside the readings, found none');
  const syncedMs = Number(timeSynced.seconds) * 1_000 + Math.floor(timeSynced.nanos / 1e6);
  const syncedUs = timeSynced.seconds * 1_000_000n + BigInt(Math.floor(timeSynced.nanos / 1_000));
  readings.forEach((reading, index) => {
    const row = rows.next();
    rows.position[row] = BigInt(position);
    rows.index[row] = index;
    rows.series[row] = series;
    rows.timeSynced[row] = syncedUs;
    rows.timeRequested[row] = noTime;
    rows.timeReceived[row] = noTime;
    const receivedMs = decodeReading(reading, rows, row, room);
    rows.captureDay[row] = captureDay(receivedMs, syncedMs);
  });
}

/** SensorData {metadata = 1 {time_requested = 1, time_received = 2}, struct = 2}; answers time_received in milliseconds. */
function decodeReading(reading: Uint8Array, rows: RowBuffer, row: number, room: DecodeRoom): number | undefined {
  let receivedMs: number | undefined;
  let data: Uint8Array = emptyDocument;
  const wire = new WireFields(reading, 0, reading.length);
  while (wire.next()) {
    if (wire.tag === 0x0a) {
      const times = new WireFields(reading, wire.start, wire.end);
      while (times.next()) {
        if (times.tag === 0x0a) rows.timeRequested[row] = microseconds(reading, times.start, times.end);
        else if (times.tag === 0x12) {
          rows.timeReceived[row] = microseconds(reading, times.start, times.end);
          receivedMs = Number(rows.timeReceived[row]) / 1_000;
        }
      }
    } else if (wire.tag === 0x12) {
      const need = maxBsonBytes(wire.end - wire.start);
      if (room.used + need > room.block.length) {
        room.block = new Uint8Array(Math.max(blockBytes, need));
        room.used = 0;
      }
      const end = writeStruct(reading, wire.start, wire.end, room.block, room.used);
      data = room.block.subarray(room.used, end);
      room.used = end;
    }
  }
  rows.data[row] = data;
  rows.dataBytes += data.length;
  return receivedMs;
}

/** Seconds outside the years 1 to 9999 are no Timestamp and count as the nearest one. */
function microseconds(source: Uint8Array, start: number, end: number): bigint {
  let seconds = 0;
  let nanos = 0;
  const wire = new WireFields(source, start, end);
  while (wire.next()) {
    if (wire.tag === 0x08) seconds = wire.value;
    else if (wire.tag === 0x10) nanos = wire.value;
  }
  const clamped = Math.min(253_402_300_799, Math.max(-62_135_596_800, seconds));
  const fraction = Math.min(999_999, Math.max(0, Math.floor(nanos / 1_000)));
  return Math.abs(clamped) < 9e9
    ? BigInt(clamped * 1_000_000 + fraction)
    : BigInt(clamped) * 1_000_000n + BigInt(fraction);
}

/** Walks the fields of a message. */
class WireFields {
  readonly source: Uint8Array;
  readonly limit: number;
  at: number;
  /** Field number and wire type of the current field. */
  tag = 0;
  /** Of a length-delimited field: where its bytes lie. */
  start = 0;
  end = 0;
  /** Of a varint field, signed, to 53 bits. */
  value = 0;

  constructor(source: Uint8Array, start: number, limit: number) {
    this.source = source;
    this.at = start;
    this.limit = limit;
  }

  /** Moves to the next field; false after the last. */
  next(): boolean {
    if (this.at >= this.limit) return false;
    this.tag = this.#varint();
    const type = this.tag & 7;
    if (type === 0) this.value = this.#varint();
    else if (type === 2) {
      const length = this.#varint();
      this.start = this.at;
      this.at += length;
      this.end = this.at;
      if (length < 0) throw truncated();
    } else if (type === 1) this.at += 8;
    else if (type === 5) this.at += 4;
    else throw new Error(`expected a protobuf field, found wire type ${type}`);
    if (this.at > this.limit) throw truncated();
    return true;
  }

  #varint(): number {
    let low = 0;
    for (let shift = 0; shift < 49; shift += 7) {
      if (this.at >= this.limit) throw truncated();
      const byte = this.source[this.at++] as number;
      low += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return low;
    }
    let wide = BigInt(low);
    for (let shift = 49n; shift < 70n; shift += 7n) {
      if (this.at >= this.limit) throw truncated();
      const byte = this.source[this.at++] as number;
      wide += BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(BigInt.asIntN(64, wide));
    }
    throw new Error('expected a varint of at most ten bytes, found a longer one');
  }
}

function truncated(): Error {
  return new Error('expected a SensorData message, found bytes that end in the middle of a field');
}
