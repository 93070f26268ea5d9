/** For tests: waits for readings of a sensor. */
import { isDeepStrictEqual } from 'node:util';
import { errorText } from '@platform/base';
import type { Readable } from '@platform/resources';
import { until } from './start-test-server.ts';

/** The error of a reading; empty if there is none. */
export async function errorOf(sensor: Readable): Promise<string> {
  try {
    await sensor.readings({});
    return '';
  } catch (caught) {
    return errorText(caught);
  }
}

export async function untilError(sensor: Readable, text: string): Promise<void> {
  await until(`the error "${text}"`, async () => (await errorOf(sensor)).includes(text));
}

export async function untilReading(sensor: Readable, expected: object): Promise<void> {
  await until(`the reading ${JSON.stringify(expected)}`, async () => {
    try {
      return isDeepStrictEqual(await sensor.readings({}), expected);
    } catch {
      return false;
    }
  });
}
