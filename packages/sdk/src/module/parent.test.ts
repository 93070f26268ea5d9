import { once } from 'node:events';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { FakeClock } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { Parent } from './parent.ts';

test('a machine-server at a port of this computer is never asked by PING: it may be busy for minutes', async () => {
  let pings = 0;
  const calls: ServerHttp2Stream[] = [];
  const server = createServer()
    .on('session', (session) => session.on('ping', () => pings++))
    .on('stream', (stream, headers) => {
      stream.on('error', () => {});
      // It is busy, so what else it is asked stays unanswered.
      if (headers[':path']?.endsWith('/GetVersion')) calls.push(stream);
    })
    .listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const clock = new FakeClock();
  await using parent = new Parent(clock, () => {});
  const link = await parent.connect(`127.0.0.1:${(server.address() as AddressInfo).port}`);
  const { getVersion } = link.client(RobotService);

  const long = getVersion({}, { timeoutMs: 0 });
  await expect.poll(() => calls).toHaveLength(1);
  await clock.advance(300_000);
  // What was sent before this call arrives before it.
  const after = getVersion({}, { timeoutMs: 0 });
  await expect.poll(() => calls).toHaveLength(2);
  expect(pings).toBe(0);
  for (const stream of calls) answer(stream);
  expect(await Promise.all([long, after])).toHaveLength(2);
});

/** An empty message. */
function answer(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(Buffer.alloc(5));
}
