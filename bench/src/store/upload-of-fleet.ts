import type { GeneratedFleet } from '../fleet/run-generator.ts';
import { componentCount, readingAt } from '../queries/readings.ts';
import { sensorData, type Upload } from '../readings/encode-batches.ts';
import { sensorOf } from './questions.ts';

/** The batches rotate among the sensors; each contains the next readings of one sensor, a second apart. */
export function uploadOfFleet(
  { partIds, startMs, firstBatch }: GeneratedFleet,
  batch: number,
  readingsEach: number,
): Upload {
  const number = firstBatch + batch;
  const index = number % componentCount;
  const first = Math.floor(number / componentCount) * readingsEach;
  return {
    partId: partIds[index % partIds.length] ?? '',
    componentName: sensorOf(index),
    reading(at) {
      const { temperature, humidity, pressure, door, state } = readingAt(index, first + at, 0);
      const requestedUs = (startMs + (first + at) * 1_000 + index) * 1_000;
      return sensorData(requestedUs, { temperature, humidity, pressure, door, state });
    },
  };
}
