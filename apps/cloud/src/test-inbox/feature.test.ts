import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@platform/base';
import { expect, onTestFinished, test } from 'vitest';
import { createTestInbox, type TestInbox } from './feature.ts';

async function startTestInbox(
  options: { maxRequests?: number; maxBodyBytes?: number; maxKeptLength?: number } = {},
): Promise<{ testInbox: TestInbox; url: string }> {
  const testInbox = createTestInbox({
    clock: systemClock,
    readerOf: async ({ headers: { authorization } }) => {
      if (authorization === 'Bearer good') return () => true;
      return authorization === 'Bearer own' ? ({ headers }) => headers['Org-Id'] === 'own' : undefined;
    },
    ...options,
  });
  const server = createServer((request, response) => {
    void testInbox.handle(request, response, new URL(request.url ?? '/', 'http://here')).then((handled) => {
      if (!handled) response.writeHead(418).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { testInbox, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('a webhook is kept with method, path, headers, body and arrival time', async () => {
  const { testInbox, url } = await startTestInbox();
  const before = Date.now();
  const seen: number[] = [];
  using _listening = testInbox.onRequest(({ id }) => seen.push(id));
  const answer = await fetch(`${url}/test-inbox/webhooks/demo?x=1`, {
    method: 'POST',
    body: '{"a":1}',
    headers: { 'Org-Id': 'o' },
  });
  expect(await answer.json()).toEqual({ caught: 1 });
  const [caught] = testInbox.requests(0);
  expect(caught).toMatchObject({ id: 1, method: 'POST', path: '/test-inbox/webhooks/demo?x=1', body: '{"a":1}' });
  expect(caught?.headers['Org-Id']).toBe('o');
  expect(caught?.receivedAt).toBeGreaterThanOrEqual(before - 1);
  expect(caught?.receivedAt).toBeLessThanOrEqual(Date.now() + 1);
  expect(seen).toEqual([1]);
});

test('headers are shown as they were sent; a repeated header has both values', async () => {
  const { testInbox, url } = await startTestInbox();
  const headers = ['Host', 'x', 'Org-Id', 'o', 'X-Two', '1', 'x-two', '2'];
  await new Promise((resolve) => request(`${url}/test-inbox/webhooks/demo`, { headers }, resolve).end());
  expect(testInbox.requests(0)[0]?.headers).toMatchObject({ 'Org-Id': 'o', 'X-Two': '1, 2' });
});

test('requests are listed after an id, and only for authorized readers', async () => {
  const { url } = await startTestInbox();
  for (const name of ['a', 'b', 'c']) await fetch(`${url}/test-inbox/webhooks/${name}`);
  expect((await fetch(`${url}/test-inbox/requests?after=1`)).status).toBe(401);
  const answer = await fetch(`${url}/test-inbox/requests?after=1`, { headers: { authorization: 'Bearer good' } });
  const { requests } = (await answer.json()) as { requests: { path: string }[] };
  expect(requests.map(({ path }) => path)).toEqual(['/test-inbox/webhooks/b', '/test-inbox/webhooks/c']);
});

test('a reader gets only the requests that it may see', async () => {
  const { url } = await startTestInbox();
  for (const id of ['own', 'other', 'own']) await fetch(`${url}/test-inbox/webhooks/a`, { headers: { 'Org-Id': id } });
  const answer = await fetch(`${url}/test-inbox/requests`, { headers: { authorization: 'Bearer own' } });
  const { requests } = (await answer.json()) as { requests: { id: number }[] };
  expect(requests.map(({ id }) => id)).toEqual([1, 3]);
});

test('only the latest requests are kept', async () => {
  const { testInbox, url } = await startTestInbox({ maxRequests: 3 });
  for (let n = 0; n < 10; n++) await fetch(`${url}/test-inbox/webhooks/n${n}`);
  expect(testInbox.requests(0).map(({ id }) => id)).toEqual([8, 9, 10]);
});

test('large bodies displace the oldest requests, so that no one can fill the memory', async () => {
  const { testInbox, url } = await startTestInbox({ maxKeptLength: 20_000, maxRequests: 4 });
  for (let n = 0; n < 20; n++) {
    await fetch(`${url}/test-inbox/webhooks/n${n}`, { method: 'POST', body: 'x'.repeat(n < 10 ? 10 : 8_000) });
  }
  expect(testInbox.requests(0).map(({ id }) => id)).toEqual([19, 20]);
});

test.each([
  ['a body over the limit', 'POST', '/test-inbox/webhooks/a', 'x'.repeat(2_000), 413],
  ['another method', 'DELETE', '/test-inbox/webhooks/a', undefined, 405],
  ['another path below /test-inbox/', 'GET', '/test-inbox/else', undefined, 404],
  ['a path of others', 'GET', '/other', undefined, 418],
  ['a path with only the same beginning', 'GET', '/test-inboxx/webhooks/a', undefined, 418],
])('%s is not kept and answered with its status', async (_what, method, path, body, status) => {
  const { testInbox, url } = await startTestInbox({ maxBodyBytes: 1_000 });
  const answer = await fetch(url + path, { method, ...(body !== undefined && { body }) });
  expect(answer.status).toBe(status);
  expect(testInbox.requests(0)).toEqual([]);
});
