import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { signInByBrowser } from './sign-in-by-browser.ts';

test('D49 the terminal shows the code to compare, of the challenge that the page gets, before the address', async () => {
  await using server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ token: 'token', email: 'a@b.c' }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const said: string[] = [];
  const signedIn = await signInByBrowser({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    openBrowser: false,
    say: (line) => said.push(line),
    askCode: async () => 'code',
    signal: new AbortController().signal,
  });
  expect(signedIn).toEqual({ token: 'token', email: 'a@b.c' });
  const challenge = /[?&]challenge=([\w-]{43})/.exec(said[1] ?? '')?.[1] ?? '';
  const [a = 0, b = 0, c = 0, d = 0] = Buffer.from(challenge, 'base64url');
  const hex = (byte: number): string => byte.toString(16).toUpperCase().padStart(2, '0');
  expect(said[0]).toMatch(new RegExp(`: ${hex(a)}${hex(b)}-${hex(c)}${hex(d)}$`));
});
