import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@platform/base';
import { expect, onTestFinished, test } from 'vitest';
import { type Catcher, createCatcher } from './feature.ts';

async function startCatcher(
  options: { maxRequests?: number; maxBodyBytes?: number; maxKeptLength?: number } = {},
): Promise<{ catcher: Catcher; url: string }> {
  const catcher = createCatcher({
    clock: systemClock,
    authorize: async (request) => request.headers.authorization === 'Bearer good',
    ...options,
  });
  const server = createServer((request, response) => {
    if (!catcher.handle(request, response)) response.writeHead(418).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { catcher, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('a webhook is kept with method, path, headers, body and the time it arrived', async () => {
  const { catcher, url } = await startCatcher();
  const before = Date.now();
  const seen: number[] = [];
  using _listening = catcher.onRequest(({ id }) => seen.push(id));
  const answer = await fetch(`${url}/catcher/webhooks/demo?x=1`, {
    method: 'POST',
    body: '{"a":1}',
    headers: { 'Org-Id': 'o' },
  });
  expect(await answer.json()).toEqual({ caught: 1 });
  const [caught] = catcher.requests(0);
  expect(caught).toMatchObject({ id: 1, method: 'POST', path: '/catcher/webhooks/demo?x=1', body: '{"a":1}' });
  expect(caught?.headers['Org-Id']).toBe('o');
  expect(caught?.receivedAt).toBeGreaterThanOrEqual(before - 1);
  expect(caught?.receivedAt).toBeLessThanOrEqual(Date.now() + 1);
  expect(seen).toEqual([1]);
});

test('headers are shown as they were sent, one that came twice with both values', async () => {
  const { catcher, url } = await startCatcher();
  const headers = ['Host', 'x', 'Org-Id', 'o', 'X-Two', '1', 'x-two', '2'];
  await new Promise((resolve) => request(`${url}/catcher/webhooks/demo`, { headers }, resolve).end());
  expect(catcher.requests(0)[0]?.headers).toMatchObject({ 'Org-Id': 'o', 'X-Two': '1, 2' });
});

test('what was caught is given after an id, and only to who may read it', async () => {
  const { url } = await startCatcher();
  for (const name of ['a', 'b', 'c']) await fetch(`${url}/catcher/webhooks/${name}`);
  expect((await fetch(`${url}/catcher/requests?after=1`)).status).toBe(401);
  const answer = await fetch(`${url}/catcher/requests?after=1`, { headers: { authorization: 'Bearer good' } });
  const { requests } = (await answer.json()) as { requests: { path: string }[] };
  expect(requests.map(({ path }) => path)).toEqual(['/catcher/webhooks/b', '/catcher/webhooks/c']);
});

test('only the last requests are kept', async () => {
  const { catcher, url } = await startCatcher({ maxRequests: 3 });
  for (let n = 0; n < 10; n++) await fetch(`${url}/catcher/webhooks/n${n}`);
  expect(catcher.requests(0).map(({ id }) => id)).toEqual([8, 9, 10]);
});

test('large bodies push out the oldest requests, so that nobody can fill the memory', async () => {
  const { catcher, url } = await startCatcher({ maxKeptLength: 20_000, maxRequests: 4 });
  for (let n = 0; n < 20; n++) {
    await fetch(`${url}/catcher/webhooks/n${n}`, { method: 'POST', body: 'x'.repeat(n < 10 ? 10 : 8_000) });
  }
  expect(catcher.requests(0).map(({ id }) => id)).toEqual([19, 20]);
});

test.each([
  ['a body over the limit', 'POST', '/catcher/webhooks/a', 'x'.repeat(2_000), 413],
  ['another method', 'DELETE', '/catcher/webhooks/a', undefined, 405],
  ['another path below /catcher/', 'GET', '/catcher/else', undefined, 404],
  ['a path of others', 'GET', '/other', undefined, 418],
])('%s is not kept and answered with its status', async (_what, method, path, body, status) => {
  const { catcher, url } = await startCatcher({ maxBodyBytes: 1_000 });
  const answer = await fetch(url + path, { method, ...(body !== undefined && { body }) });
  expect(answer.status).toBe(status);
  expect(catcher.requests(0)).toEqual([]);
});
