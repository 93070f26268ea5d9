/** Webhooks to hostile targets, with a canary that listens on loopback: it must never receive anything, and nothing may break. */
import { createServer, type Server } from 'node:net';
import { gzipSync } from 'node:zlib';
import { systemClock } from '@platform/base';
import { expect, onTestFinished, test } from 'vitest';
import { noLoopback } from '../testing/no-loopback.ts';
import { createWebhookSender, type WebhookSender } from './send-webhook.ts';
import type { TargetPolicy } from './target-guard.ts';

/** Counts connections on all loopback addresses. */
async function canary(): Promise<{ port: number; heard: () => number }> {
  let heard = 0;
  const server = createServer((socket) => {
    heard++;
    socket.destroy();
  });
  await listening(server, '::');
  return { port: portOf(server), heard: () => heard };
}

async function listening(server: Server, host: string): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => void server.close());
}

function portOf(server: Server): number {
  return (server.address() as { port: number }).port;
}

function sender(resolve: TargetPolicy['resolve'], ownPort = 1): WebhookSender {
  const created = createWebhookSender({
    clock: systemClock,
    ownAuthority: () => undefined,
    policy: {
      ownAddress: () => ({ host: '127.0.0.1', port: ownPort }),
      privateTargetsAllowed: true,
      privateTargetsSetting: 'SETTING',
      command: 'platform',
      loopback: noLoopback,
      resolve,
    },
  });
  onTestFinished(() => created[Symbol.dispose]());
  return created;
}

const send = (to: WebhookSender, url: string) =>
  to.send({ url, organizationId: 'o1', method: 'POST', headers: {}, body: '{}' }, new AbortController().signal);

/** Ways to write an IPv4 address of this host. */
function spellings(a: number, b: number, c: number, d: number): string[] {
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  const four = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  const dotted = `${a}.${b}.${c}.${d}`;
  return [
    ...[
      dotted,
      `${dotted}.`,
      `${whole}`,
      `0x${whole.toString(16)}`,
      `0${whole.toString(8)}`,
      `${a}.${b * 65_536 + c * 256 + d}`,
    ],
    ...[`0x${a.toString(16)}.${b}.${c}.${d}`, `0${a.toString(8)}.${b}.${c}.${d}`, dotted.replaceAll('.', '。')],
    ...[`[::ffff:${dotted}]`, `[::ffff:${four}]`, `[::${dotted}]`, `[64:ff9b::${four}]`, `[2002:${four}::1]`],
  ];
}

test('D23 none of 500 hostile URLs reaches a canary on loopback, link-local or metadata addresses', async () => {
  const { port, heard } = await canary();
  const hosts = [
    ...Array.from({ length: 30 }, (_, n) => spellings(127, n * 8, n, n + 1)).flat(),
    ...[
      spellings(0, 0, 0, 0),
      spellings(169, 254, 169, 254),
      spellings(169, 254, 0, 1),
      spellings(100, 100, 100, 200),
    ].flat(),
    ...['[::1]', '[::]', '[fe80::1]', '[fd00:ec2::254]', 'localhost', 'LOCALHOST.', 'x.localhost', 'rebind.example'],
  ];
  const urls = hosts.flatMap((host) => [
    `http://${host}:${port}/`,
    ...(hosts.indexOf(host) < 60 ? [`https://${host}:${port}/x`] : []),
  ]);
  expect(urls.length).toBeGreaterThanOrEqual(500);
  // Every name resolves to the canary, but only at every other query.
  let asked = 0;
  const to = sender(async () => [
    { address: asked++ % 2 === 0 ? '127.0.0.1' : '::1', family: 4 },
    { address: '93.184.216.34', family: 4 },
  ]);
  for (const url of urls) expect(await send(to, url), url).toMatchObject({ outcome: 'rejected' });
  expect(heard()).toBe(0);
});

test('D23 a name that is public when it is checked and loopback when it is dialled is not dialled', async () => {
  const { port, heard } = await canary();
  let asked = 0;
  const to = sender(async () => [{ address: asked++ === 0 ? '127.0.0.1' : '93.184.216.34', family: 4 }]);
  expect(await send(to, `http://rebind.example:${port}/`)).toMatchObject({ outcome: 'rejected' });
  expect([asked, heard()]).toEqual([1, 0]);
});

/** An HTTP server on the address of the test inbox that answers each connection with these bytes. */
async function answering(...parts: readonly (string | Buffer)[]): Promise<WebhookSender & { readonly url: string }> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      for (const part of parts) socket.write(part);
      socket.end();
    });
  });
  await listening(server, '127.0.0.1');
  const port = portOf(server);
  const to = sender(async () => [{ address: '127.0.0.1', family: 4 }], port);
  return { ...to, url: `http://127.0.0.1:${port}/test-inbox/webhooks/a` };
}

test('D23 a redirect to a canary is not followed', async () => {
  const { port, heard } = await canary();
  for (const status of [301, 302, 303, 307, 308]) {
    const to = await answering(
      `HTTP/1.1 ${status} Moved\r\nlocation: http://127.0.0.1:${port}/\r\ncontent-length: 0\r\n\r\n`,
    );
    expect(await send(to, to.url)).toMatchObject({ outcome: 'rejected', code: status });
  }
  expect(heard()).toBe(0);
});

test('D23 100 kB of headers are refused, and retried later like any answer that is not HTTP', async () => {
  const to = await answering(
    `HTTP/1.1 200 OK\r\n${`x-filler: ${'x'.repeat(1_000)}\r\n`.repeat(100)}content-length: 0\r\n\r\n`,
  );
  expect(await send(to, to.url)).toMatchObject({ outcome: 'retryLater', error: expect.stringMatching(/overflow/i) });
});

test('D23 a decompression bomb is not unpacked: 4 KiB of what arrived are kept', async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1_024 * 1_024));
  const to = await answering(
    `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`,
    bomb,
  );
  const before = process.memoryUsage().arrayBuffers;
  const result = await send(to, to.url);
  expect(result).toMatchObject({ outcome: 'accepted', code: 200 });
  expect(Buffer.byteLength(result.response ?? '')).toBeLessThanOrEqual(3 * 4_096);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1_024 * 1_024);
});
