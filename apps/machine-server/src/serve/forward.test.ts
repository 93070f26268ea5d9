import { PlatformError } from '@platform/base';
import { expect, test } from 'vitest';
import { forward } from './forward.ts';

const call = { signal: new AbortController().signal };
const failsWith = (code: 'unknown' | 'unavailable') => async () => {
  throw new PlatformError(code, 'the probe is not plugged in');
};

test.each([
  ['unknown', 'failed_precondition'],
  ['unavailable', 'unavailable'],
] as const)('an error %s of a module reaches the caller as %s, with its message', async (code, told) => {
  const error = { code: told, message: 'the probe is not plugged in', isOwnFault: false };
  await expect(forward(failsWith(code), false)({}, call)).rejects.toMatchObject(error);
});

test('an error without a code ends a stream with its message, after the answers before it', async () => {
  async function* ticks() {
    yield 1;
    await failsWith('unknown')();
  }
  const answers = forward(ticks, true)({}, call) as AsyncIterable<number>;
  const got: number[] = [];
  const reading = (async () => {
    for await (const tick of answers) got.push(tick);
  })();
  await expect(reading).rejects.toMatchObject({ code: 'failed_precondition', message: 'the probe is not plugged in' });
  expect(got).toEqual([1]);
});
