/** Readings of a given size, numbered from 1, and totals of the acknowledged ones. */
import { randomBytes } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type SensorData, SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';

/** The maximum size of a reading (D14). */
export const largestBytes = 4_194_304;
/** The size from which the query `newest large reading` finds a reading. */
export const largeBytes = 1_000_000;
/** One reading in 100 is this warm. */
export const warm = 99;

export interface MadeReading {
  readonly n: number;
  readonly bytes: number;
  readonly temperature: number;
  readonly isLarge: boolean;
  readonly message: SensorData;
}

/** Equal in the store and in the ledger if each reading is stored once and complete. */
export interface Totals {
  readonly readings: number;
  /** Sum of their numbers. */
  readonly numbers: number;
  /** Sum of the lengths of their texts. */
  readonly textBytes: number;
  readonly warm: number;
}

export const noReadings: Totals = { readings: 0, numbers: 0, textBytes: 0, warm: 0 };

/** @param bytes of the message, at least about 130. */
export function makeReading(n: number, bytes: number): MadeReading {
  const temperature = n % 100;
  const isLarge = bytes >= largeBytes;
  const message = messageOf(n, temperature, isLarge, 0);
  // A longer text also makes the lengths around it longer.
  let textBytes = Math.max(0, bytes - toBinary(SensorDataSchema, message).length);
  for (;;) {
    const whole = messageOf(n, temperature, isLarge, textBytes);
    const over = toBinary(SensorDataSchema, whole).length - bytes;
    if (over <= 0 || textBytes === 0) return { n, bytes: bytes + over, temperature, isLarge, message: whole };
    textBytes = Math.max(0, textBytes - over);
  }
}

export function plus(totals: Totals, { n, temperature, message }: MadeReading): Totals {
  const { readings } = message.data.value as { readings: { text: string } };
  return {
    readings: totals.readings + 1,
    numbers: totals.numbers + n,
    textBytes: totals.textBytes + readings.text.length,
    warm: totals.warm + (temperature >= warm ? 1 : 0),
  };
}

/** Text that cannot be compressed to less than three quarters. */
function messageOf(n: number, temperature: number, large: boolean, textBytes: number): SensorData {
  const text = randomBytes(Math.ceil((textBytes * 3) / 4))
    .toString('base64')
    .slice(0, textBytes);
  const now = timestampFromMs(Date.now());
  return create(SensorDataSchema, {
    metadata: { timeRequested: now, timeReceived: now },
    data: { case: 'struct', value: { readings: { n, temperature, large, length: textBytes, text } } },
  });
}
