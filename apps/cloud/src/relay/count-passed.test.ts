import { createServer, type ServerHttp2Stream } from 'node:http2';
import { PlatformError } from '@platform/base';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { byteStreamOver } from '@platform/rpc/client';
import { FakeClock } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { createPassedBytes } from './count-passed.ts';
import { createLinks } from './links.ts';

/** A machine at the end of a real link that itself counts what it sends and receives. */
function openMachine() {
  const feed = Promise.withResolvers<AsyncIterable<Uint8Array>>();
  let bytes = 0;
  async function* counted(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    for await (const piece of pieces) {
      bytes += piece.length;
      yield piece;
    }
  }
  async function* later(): AsyncGenerator<Uint8Array, void> {
    yield* counted(await feed.promise);
  }
  const link = createLinks(new FakeClock()).open('part', later());
  const machine = byteStreamOver(counted(link.outgoing));
  feed.resolve(machine.outgoing);
  machine.duplex.on('error', () => {});
  const server = createServer().on('stream', (stream: ServerHttp2Stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.alloc(5));
  });
  server.emit('connection', machine.duplex);
  onTestFinished(() => link.end(new PlatformError('unavailable', 'the test is over')));
  return { link, call: () => link.link.client(RobotService).resourceNames({}), bytes: () => bytes };
}

test("each byte on a machine's link is counted once while calls are in progress, and none while there are none", async () => {
  const { link, call, bytes } = openMachine();
  let passed = 0;
  const counting = createPassedBytes((organizationId, some) => {
    expect([organizationId, some > 0]).toEqual(['acme', true]);
    passed += some;
  });
  // The traffic between the two ends when the link opens.
  await call();
  const idle = bytes();
  expect(idle).toBeGreaterThan(0);
  expect(passed).toBe(0);
  const before = link.bytes();
  {
    using first = counting.enter(link, 'acme');
    await call();
    using _second = counting.enter(link, 'acme');
    await Promise.all([call(), call()]);
    first.tell();
    expect(passed).toBe(link.bytes() - before);
  }
  const after = link.bytes();
  expect(passed).toBe(after - before);
  await call();
  expect(link.bytes()).toBeGreaterThan(after);
  expect(passed).toBe(after - before);
  await expect.poll(bytes).toBe(link.bytes());
});
