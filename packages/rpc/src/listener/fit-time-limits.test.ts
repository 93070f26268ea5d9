import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { helloBytes } from '../../test/echo-requests.ts';
import { envelope, rawCall } from '../../test/raw-call.ts';
import { startEcho } from '../../test/start-echo.ts';

/** A timer that is too long fires after 1 ms: before one of 2 ms that is set later. */
const afterWrongTimer = (signal: AbortSignal): Promise<void> => sleep(2, undefined, { signal });

test.each([
  ['application/grpc', 'Say', { 'grpc-timeout': '99999999H' }],
  ['application/grpc', 'Split', { 'grpc-timeout': '99999999H' }],
  ['application/grpc-web+proto', 'Split', { 'grpc-timeout': '2562047H' }],
  ['application/connect+proto', 'Split', { 'connect-timeout-ms': '9999999999' }],
  ['application/proto', 'Say', { 'connect-timeout-ms': '2147483648' }],
])('a time limit longer than a timer can hold is no limit: %s, %s', async (contentType, method, headers) => {
  await using server = await startEcho({
    async say(_request, { signal }) {
      await afterWrongTimer(signal);
      return { value: 'late' };
    },
    async *split(_request, { signal }) {
      await afterWrongTimer(signal);
      yield { value: 'late' };
    },
  });
  const body = contentType === 'application/proto' ? helloBytes : envelope(0, helloBytes);
  const path = `/platform.test.v1.EchoService/${method}`;
  expect(await rawCall(server, { path, contentType, body, headers })).toMatchObject({ code: 'ok' });
});
