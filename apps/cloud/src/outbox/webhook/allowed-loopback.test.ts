/** Programs on the computer of the cloud that webhooks of one organization may reach (D43). */

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@platform/base';
import { expect, onTestFinished, test } from 'vitest';
import type { SendResult } from '../channel.ts';
import { createWebhookSender } from './send-webhook.ts';

/** A program on loopback that counts its requests. */
async function listen(answer: http.RequestListener = (_request, response) => response.end('ok')) {
  let heard = 0;
  const server = http.createServer((request, response) => {
    heard++;
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, heard: () => heard };
}

/** Sends webhooks of the organization `ours` unless another one is given. `allowed` and `own` may change meanwhile. */
function sending(
  allowed: Set<string>,
  names: Readonly<Record<string, readonly string[]>> = {},
  own = new Set<number>(),
) {
  const sender = createWebhookSender({
    clock: systemClock,
    ownAuthority: () => undefined,
    policy: {
      ownAddress: () => undefined,
      privateTargetsAllowed: true,
      privateTargetsSetting: 'SETTING',
      command: 'platform',
      loopback: {
        isOwnPort: (port) => own.has(port),
        allows: (organizationId, address, port) => allowed.has(`${organizationId} ${address} ${port}`),
      },
      resolve: async (name) =>
        (names[name] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    },
  });
  onTestFinished(() => sender[Symbol.dispose]());
  return (url: string, organizationId = 'ours'): Promise<SendResult> =>
    sender.send({ url, organizationId, method: 'POST', headers: {}, body: '' }, new AbortController().signal);
}

const accepted = { outcome: 'accepted', code: 200 };
const refused = (error: string) => ({ outcome: 'rejected', error: expect.stringContaining(error) });

test('D43 the allowed address and port are reached for one organization, not for another, not even over its kept connection', async () => {
  const { port, heard } = await listen();
  const send = sending(new Set([`ours 127.0.0.1 ${port}`]), { 'node-red.example': ['127.0.0.1'] });
  for (const host of ['127.0.0.1', 'node-red.example']) {
    const url = `http://${host}:${port}/hook`;
    expect(await send(url)).toMatchObject(accepted);
    expect(await send(url, 'others')).toMatchObject(refused(`platform admin webhooks allow others 127.0.0.1:${port}`));
  }
  expect(heard()).toBe(2);
});

test('D43 another port and other loopback addresses stay refused, and the error names the command for them', async () => {
  const { port, heard } = await listen();
  const send = sending(new Set([`ours 127.0.0.1 ${port + 1}`, `ours 127.0.0.2 ${port}`]));
  expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject(
    refused(`platform admin webhooks allow ours 127.0.0.1:${port}`),
  );
  expect(await send(`http://[::1]:${port}/`)).toMatchObject(
    refused(`platform admin webhooks allow ours '[::1]:${port}'`),
  );
  // Without a port in the URL, it is that of the protocol.
  expect(await send('https://127.0.0.1/')).toMatchObject(refused('platform admin webhooks allow ours 127.0.0.1:443'));
  expect(heard()).toBe(0);
});

test('D43 a name that is the allowed address and something else is refused, whichever comes first', async () => {
  const { port, heard } = await listen();
  const mixtures = { 'a.example': ['127.0.0.1', '93.184.216.34'], 'b.example': ['10.0.0.1', '127.0.0.1'] };
  const send = sending(new Set([`ours 127.0.0.1 ${port}`]), { ...mixtures, 'c.example': ['127.0.0.1', '::1'] });
  expect(await send(`http://a.example:${port}/`)).toMatchObject(refused('and also 93.184.216.34'));
  expect(await send(`http://b.example:${port}/`)).toMatchObject(refused('and also 10.0.0.1'));
  // Both are loopback; each needs its own permission.
  expect(await send(`http://c.example:${port}/`)).toMatchObject(
    refused(`c.example is ::1, which is loopback; the host administrator can allow`),
  );
  expect(heard()).toBe(0);
});

test('D43 other forms of the allowed address are refused as addresses of a name', async () => {
  const { port, heard } = await listen();
  const forms = ['::ffff:127.0.0.1', '::127.0.0.1', '64:ff9b::7f00:1', '0.0.0.0', '::'];
  const names = Object.fromEntries(forms.map((form, n) => [`form${n}.example`, [form]]));
  const send = sending(new Set(forms.map((form) => `ours ${form} ${port}`)), names);
  for (const name of Object.keys(names))
    expect(await send(`http://${name}:${port}/`)).toMatchObject(refused('no setting changes that'));
  expect(heard()).toBe(0);
});

test('D43 a port on which the platform or its database listens is refused even if it is allowed', async () => {
  const { port, heard } = await listen();
  const own = new Set([port]);
  const send = sending(new Set([`ours 127.0.0.1 ${port}`]), { 'own.example': ['127.0.0.1'] }, own);
  for (const host of ['127.0.0.1', 'own.example'])
    expect(await send(`http://${host}:${port}/`)).toMatchObject(
      refused(`webhooks never go to port ${port}, on which the platform or its database listens`),
    );
  expect(heard()).toBe(0);
});

test('D43 a removed permission ends at once, also for a kept connection', async () => {
  const { port, heard } = await listen();
  const allowed = new Set([`ours 127.0.0.1 ${port}`]);
  const send = sending(allowed, { 'node-red.example': ['127.0.0.1'] });
  const url = `http://node-red.example:${port}/`;
  expect(await send(url)).toMatchObject(accepted);
  allowed.clear();
  expect(await send(url)).toMatchObject(refused('platform admin webhooks allow'));
  expect(heard()).toBe(1);
});

test('D43 a redirect of the allowed program to another port is not followed', async () => {
  const other = await listen();
  const { port } = await listen((_request, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${other.port}/` }).end(),
  );
  const send = sending(new Set([`ours 127.0.0.1 ${port}`]));
  expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ outcome: 'rejected', code: 307 });
  expect(other.heard()).toBe(0);
});
