import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { parseTrustedProxies } from '@platform/base';
import { FakeClock, selfSigned } from '@platform/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EchoService } from '../../../test/echo-service.ts';
import { credentials, type EchoServer, startEcho } from '../../../test/start-echo.ts';
import { connect } from '../../link/connect.ts';
import type { NodeListener } from '../node-types.ts';
import { clientAddress } from './client-address.ts';
import { forwardedAddress } from './forwarded-address.ts';
import { readProxyHeader } from './proxy-header.ts';
import { SilentConnections } from './silent-connections.ts';

const proxies = parseTrustedProxies('127.0.0.1, 10.0.0.0/8 fd00::/8');
const tls = await selfSigned();

const tellAddress: NodeListener = (request, response) => {
  (response as import('node:http').ServerResponse).end(`client ${clientAddress(request)}.`);
};

/** The address that a page sees. @param before what stands before the request */
async function seenOverHttp1(server: EchoServer, before: Uint8Array, header = ''): Promise<string> {
  const socket = connectTcp(server.port, '127.0.0.1');
  const request = `GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${header}\r\n`;
  // The header may arrive in pieces.
  for (const byte of before) socket.write(Uint8Array.of(byte));
  const plain = server.url.startsWith('https:') ? connectTls({ socket, ca: tls.cert, host: '127.0.0.1' }) : socket;
  plain.write(request);
  let text = '';
  for await (const chunk of plain) text += String(chunk);
  return /client (.*)\./.exec(text)?.[1] ?? text;
}

test('who asks through a trusted proxy is the last address that is not one, in calls and pages; others may claim nothing', async () => {
  const header = '198.51.100.1, 203.0.113.7, 10.1.2.3';
  for (const [trustedProxies, expected] of [
    [proxies, /^203\.0\.113\.7$/],
    [parseTrustedProxies('192.0.2.1'), /^127\.0\.0\.1:\d+$/],
    [undefined, /^127\.0\.0\.1:\d+$/],
  ] as const) {
    await using server = await startEcho({}, { fallback: tellAddress, ...(trustedProxies && { trustedProxies }) });
    await using link = connect({ baseUrl: server.url, credentials });
    const echo = link.withHeaders(async () => ({ 'x-forwarded-for': header })).client(EchoService);
    await echo.say({ value: 'fast path' });
    for await (const _word of echo.split({ value: 'general path' }));
    expect(server.calls.map(({ peerAddress }) => peerAddress)).toEqual([
      expect.stringMatching(expected),
      expect.stringMatching(expected),
    ]);
    expect(await seenOverHttp1(server, Buffer.alloc(0), `x-forwarded-for: ${header}\r\n`)).toMatch(expected);
  }
});

const text = Buffer.from('PROXY TCP4 203.0.113.7 192.0.2.2 4711 443\r\n');
const binary = Buffer.concat([
  Buffer.from('\r\n\r\n\0\r\nQUIT\n'),
  Buffer.from([0x21, 0x21, 0, 36]),
  Buffer.from('20010db8000000000000000000000007', 'hex'),
  Buffer.alloc(16),
  Buffer.from([0x12, 0x67, 1, 187]),
]);

test.each(['plaintext', 'TLS'])('the PROXY header of a trusted proxy names the client, over %s', async (kind) => {
  const options = { fallback: tellAddress, trustedProxies: proxies, ...(kind === 'TLS' && { tls }) };
  await using server = await startEcho({}, options);
  expect(await seenOverHttp1(server, text)).toBe('203.0.113.7:4711');
  expect(await seenOverHttp1(server, binary)).toBe('[2001:db8:0:0:0:0:0:7]:4711');
  expect(await seenOverHttp1(server, Buffer.from('PROXY UNKNOWN\r\n'))).toMatch(/^127\.0\.0\.1:\d+$/);
  // The header was written by the proxy before, and the client behind it is none.
  expect(await seenOverHttp1(server, text, 'x-forwarded-for: 8.8.8.8\r\n')).toBe('203.0.113.7:4711');
});

test('a PROXY header that is no proxy’s is no request, and one that is broken ends the connection', async () => {
  await using server = await startEcho({}, { fallback: tellAddress });
  expect(await seenOverHttp1(server, text)).toMatch(/^HTTP\/1\.1 400 /);
  await using trusting = await startEcho({}, { fallback: tellAddress, trustedProxies: proxies });
  expect(await seenOverHttp1(trusting, Buffer.from('PROXY TCP4 nobody x 1 2\r\n')).catch(() => '')).toBe('');
});

test('R17 silent connections through a trusted proxy count for the client that its PROXY header names', async () => {
  const clock = new FakeClock();
  const silent = new SilentConnections({ inAll: 100, ofAddress: 2 }, clock);
  await using server = await startEcho({}, { trustedProxies: proxies, silentConnections: silent });
  const dial = (header: string) => {
    const socket = connectTcp(server.port, '127.0.0.1').on('error', () => {});
    socket.resume().write(header);
    return socket;
  };
  const one = [1, 2, 3].map((port) => dial(`PROXY TCP4 203.0.113.1 192.0.2.2 ${port} 443\r\n`));
  const others = [2, 3, 4].map((host) => dial(`PROXY TCP4 203.0.113.${host} 192.0.2.2 1 443\r\n`));
  const silentAboutIt = [1, 2, 3].map(() => dial(''));
  await expect.poll(() => silent.size).toBe(9);
  await clock.advance(5_000);
  await expect.poll(() => one.filter(({ closed }) => closed)).toHaveLength(1);
  expect(silent.size).toBe(8);
  expect([...others, ...silentAboutIt].filter(({ closed }) => closed)).toEqual([]);
  for (const socket of [...one, ...others, ...silentAboutIt]) socket.destroy();
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['1.1.1.1, 203.0.113.7:8080 , 10.0.0.1', '203.0.113.7:8080'],
  ['[2001:db8::7]:443', '[2001:db8::7]:443'],
  ['2001:db8::7', '[2001:db8::7]'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['10.0.0.2, 10.0.0.1', '10.0.0.2'],
  ['1.1.1.1, unknown, 10.0.0.1', '10.0.0.1'],
  ['1.1.1.1, <script>', undefined],
  ['', undefined],
])('x-forwarded-for %j means %s', (header, expected) => {
  expect(forwardedAddress(header, proxies)).toBe(expected);
});

test('no bytes make the reader of PROXY headers throw, and it decides once they cannot become a header any more', () => {
  const beginning = fc
    .constantFrom(text, binary, Buffer.alloc(0))
    .chain((base) => fc.nat(base.length).map((end) => base.subarray(0, end)));
  fc.assert(
    fc.property(beginning, fc.uint8Array({ maxLength: 5_000 }), (base, more) => {
      const header = readProxyHeader(Buffer.concat([base, more]));
      if (header === 'unfinished') expect(base.length + more.length).toBeLessThan(4_096);
      else if (typeof header === 'object') expect(header.bytes).toBeLessThanOrEqual(base.length + more.length);
    }),
  );
});
