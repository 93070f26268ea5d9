/** When a machine-server took its readings, as its capture files say. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { readCaptureFile } from '@platform/capture-file';
import { SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';

/** The times of a component's readings in the sealed files below a directory, in order, ms. */
export function tickTimes(directory: string, component: string): number[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.capture'))
    .map((path) => readCaptureFile(readFileSync(join(directory, path))))
    .filter(({ header }) => header.metadata?.componentName === component)
    .flatMap(({ readings }) => readings)
    .map((reading) => {
      const time = fromBinary(SensorDataSchema, reading).metadata?.timeRequested;
      return time === undefined ? Number.NaN : timestampMs(time);
    })
    .toSorted((a, b) => a - b);
}

/** By how much the longest time between two ticks exceeded the interval, ms. */
export function longestDelay(times: readonly number[], intervalMs: number): number {
  const gaps = times.slice(1).map((time, index) => time - (times[index] as number));
  return Math.round(Math.max(...gaps) - intervalMs);
}
