/** AuthService over a real port, and the answers to guessing for each way to sign in. */
import { createLog, type Log, silentLog } from '@platform/base';
import { createRpcServer } from '@platform/rpc/server';
import { expect, onTestFinished, test } from 'vitest';
import { authBinding } from './auth-rpc.ts';
import type { Principal } from './principal.ts';
import { type Fleet, on, openFleet } from './testing/open-fleet.ts';

async function serveAuth(fleet: Fleet, log: Log = silentLog): Promise<string> {
  const server = createRpcServer<Principal>({
    services: [authBinding(fleet.authenticator, ({ peerAddress }) => peerAddress)],
    authenticate: (call) => fleet.authenticator.principalOf(call.metadata),
    open: ['/proto.rpc.v1.AuthService/Authenticate'],
    fallback: (_request, response) => void response.end(),
    log,
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return `http://127.0.0.1:${port}`;
}

const post = (url: string, entity: string, payload: string): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ entity, credentials: { type: 'api-key', payload } }),
  });

test('too many wrong keys answer 429 with Retry-After over HTTP, by Connect and by REST, while the right key still works', async () => {
  const fleet = await openFleet();
  const key = await fleet.keyWith(on.organization('owner'));
  const base = await serveAuth(fleet);
  for (const url of [`${base}/proto.rpc.v1.AuthService/Authenticate`, `${base}/rpc/v1/authenticate`]) {
    const answers: Response[] = [];
    for (let turn = 0; turn < 6; turn++) answers.push(await post(url, key.id, `guess ${turn}`));
    const last = answers.at(-1);
    expect([last?.status, last?.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await last?.text()).toContain('too many failed attempts');
    const right = await post(url, key.id, key.key);
    expect([right.status, await right.json()]).toEqual([200, { accessToken: key.token }]);
  }
});

test('neither the answer to a refused sign-in nor the log contains the secret that was tried', async () => {
  const fleet = await openFleet();
  const key = await fleet.keyWith(on.organization('owner'));
  const lines: unknown[] = [];
  const base = await serveAuth(
    fleet,
    createLog((...line) => void lines.push(line)),
  );
  const url = `${base}/rpc/v1/authenticate`;
  const texts = [await (await post(url, key.id, 'canary-secret')).text()];
  const malformed = '{"entity": 5, "credentials": {"payload": "canary-secret"}}';
  const headers = { 'content-type': 'application/json' };
  texts.push(await (await fetch(url, { method: 'POST', headers, body: malformed })).text());
  expect(texts[0]).toContain(key.id);
  expect(JSON.stringify([texts, lines])).not.toContain('canary-secret');
});
