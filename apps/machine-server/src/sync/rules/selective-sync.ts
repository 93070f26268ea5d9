/** The rule `selective_syncer_name`: a sensor says whether to sync. */
import { type Clock, errorText } from '@platform/base';
import { isReadable, type Resource } from '@platform/resources';
import { withTimeout } from '../../graph/with-timeout.ts';
import type { SyncRule } from './sync-rule.ts';

/** The key of the reading: true or false. */
export const shouldSyncKey = 'should_sync';
const timeoutMs = 5_000;

/**
 * With an absent sensor, a failed reading or a reading without the key, nothing is sent.
 *
 * @param found the resource of that name; undefined if it does not run
 */
export function selectiveSync(name: string, found: Resource | undefined, clock: Clock): SyncRule {
  return async () => {
    const what = `the sensor "${name}" (selective_syncer_name)`;
    if (found === undefined) return `${what} does not run`;
    try {
      if (!isReadable(found)) return `${what} is not a sensor`;
      const reading = Promise.resolve().then(() => found.readings({}));
      const readings = await withTimeout(reading, timeoutMs, `no reading within ${timeoutMs} ms`, clock);
      const value = readings[shouldSyncKey];
      if (value === true) return undefined;
      return value === false
        ? `${what} says ${shouldSyncKey} = false`
        : `${what}: expected a reading ${shouldSyncKey} that is true or false, found ${JSON.stringify(value) ?? 'none'}`;
    } catch (caught) {
      return `${what} cannot be read: ${errorText(caught)}`;
    }
  };
}
