/** The large installation: 2,000 machines with ten sensors each, so 20,000 series. */
import { documentOf, readingAt } from '../queries/readings.ts';

export const largeFleet = { machines: 2_000, sensors: 10, everyMs: 60_000 } as const;
export const seriesCount: number = largeFleet.machines * largeFleet.sensors;

export const sensorName = (sensor: number): string => `sensor-${sensor}`;

/** The nth reading of a sensor, as it is stored. */
export function documentAt(machine: number, sensor: number, n: number): ReturnType<typeof documentOf> {
  return documentOf(readingAt(machine * largeFleet.sensors + sensor, n, largeFleet.everyMs));
}
