import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { afterEach, expect, test, vi } from 'vitest';
import { problemOf, problemOfAction } from './problem.ts';
import { reach, Unreached } from './reach.ts';

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

test.each([
  'Failed to fetch dynamically imported module: http://cloud/page.js',
  'error loading dynamically imported module: http://cloud/page.js',
  'Importing a module script failed.',
])('nor is a part of the page that could not be loaded: %s', (text) => {
  expect(problemOf(new TypeError(text))).toMatchObject({ title: 'The cloud does not answer', isAway: true });
});

test('an action whose answer is missing may have been done, and nothing tries it again; a page that follows something tries again', () => {
  const lost = new Unreached('Failed to fetch');
  expect(problemOf(lost).advice).toContain('retries automatically');
  expect(problemOfAction(lost).advice).toContain('It may have been done');
  expect(problemOfAction(lost).advice).not.toContain('automatically');
  const refused = new ConnectError('name: expected one', Code.InvalidArgument);
  expect(problemOfAction(refused)).toEqual(problemOf(refused));
});
