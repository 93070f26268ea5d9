/** The maintenance window (D9): decides whether a new configuration must wait, and why. */
import { type Clock, errorText } from '@platform/base';
import type { MaintenanceConfig } from '@platform/machine-config/schema';
import { isReadable } from '@platform/resources';
import type { Graph } from '../graph/graph.ts';
import { withTimeout } from '../graph/with-timeout.ts';

const readingTimeoutMs = 5_000;
/** Maximum length of a reading's value in the text. */
const maxShownLength = 200;

/**
 * Why the configuration with this `maintenance` must wait; undefined if it may be applied now.
 *
 * The sensor must be running now. Anything except `true` under the key means that it must wait: also a sensor that is missing, fails, or
 * does not answer within 5 s, and a reading without the key.
 *
 * @param maintenance of the new configuration, so that an edit that repairs or removes the window is not locked out.
 */
export async function holdReason(
  graph: Pick<Graph, 'get'>,
  maintenance: MaintenanceConfig | undefined,
  clock: Clock,
): Promise<string | undefined> {
  if (maintenance === undefined) return undefined;
  const { sensor_name: name, maintenance_allowed_key: key } = maintenance;
  const sensor = graph.get(name);
  if (sensor === undefined || !isReadable(sensor))
    return `expected the sensor ${name} to be running, found none with this name`;
  try {
    const reading = Promise.resolve().then(() => sensor.readings({}));
    const readings = await withTimeout(reading, readingTimeoutMs, `no reading within ${readingTimeoutMs} ms`, clock);
    const value = Object.hasOwn(readings, key) ? readings[key] : undefined;
    return value === true
      ? undefined
      : `expected true under "${key}" of ${name}, found ${value === undefined ? 'nothing' : JSON.stringify(value).slice(0, maxShownLength)}`;
  } catch (caught) {
    return `expected a reading of ${name}, found: ${errorText(caught)}`;
  }
}
