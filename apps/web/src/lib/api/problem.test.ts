import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { afterEach, expect, test, vi } from 'vitest';
import { problemOf } from './problem.ts';
import { reach } from './reach.ts';

afterEach(() => vi.unstubAllGlobals());

const caughtBy = (call: Promise<unknown>): Promise<unknown> => call.catch((caught: unknown) => caught);

test.each(['Failed to fetch', 'NetworkError when attempting to fetch resource.', 'Load failed'])(
  'a cloud that does not answer is reported as such, whatever the browser says: %s',
  async (text) => {
    vi.stubGlobal('localStorage', { getItem: () => null });
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError(text)));
    const robot = createClient(RobotService, createConnectTransport({ baseUrl: 'http://cloud', fetch: reach }));
    for (const call of [reach('/api/whoami'), robot.getVersion({})])
      expect(problemOf(await caughtBy(call)).title).toBe('The cloud does not answer');
  },
);

test('a mistake of the page is not', () => {
  expect(problemOf(new TypeError('fetchRows is not a function')).title).toBe('That did not work');
});
