import { fromBinary, type JsonObject } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { dataLoss } from '@platform/base';
import { SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';

export interface DescribedReading {
  /** RFC 3339 with microseconds; null if absent. */
  readonly timeRequested: string | null;
  readonly timeReceived: string | null;
  /** Undefined if the reading has bytes instead, or nothing. */
  readonly document: JsonObject | undefined;
  readonly binary: Uint8Array | undefined;
}

/** Decodes a reading of a capture file. @throws data_loss if it cannot be decoded */
export function describeReading(reading: Uint8Array): DescribedReading {
  try {
    const { metadata, data } = fromBinary(SensorDataSchema, reading);
    return {
      timeRequested: timeText(metadata?.timeRequested),
      timeReceived: timeText(metadata?.timeReceived),
      document: data.case === 'struct' ? (data.value as JsonObject) : undefined,
      binary: data.case === 'binary' ? data.value : undefined,
    };
  } catch (caught) {
    throw dataLoss(`a reading of ${reading.length} bytes cannot be decoded`, caught);
  }
}

function timeText(time: Timestamp | undefined): string | null {
  if (time === undefined) return null;
  const ms = Number(time.seconds) * 1_000;
  if (!Number.isFinite(new Date(ms).getTime())) return null;
  const micros = String(Math.floor(time.nanos / 1_000)).padStart(6, '0');
  return new Date(ms).toISOString().replace(/\.\d+Z$/, `.${micros}Z`);
}
