import { FakeClock } from '@platform/testkit';
import { describe, expect, test } from 'vitest';
import { type CutRequest, cutHttp1, cutHttp2 } from '../../test/cut-requests.ts';
import { say } from '../../test/echo-requests.ts';
import { frame } from '../../test/grpc-web.ts';
import { type EchoServer, startEcho } from '../../test/start-echo.ts';

const service = '/platform.test.v1.EchoService';
const first = frame(new Uint8Array([10, 5, 104, 101, 108, 108, 111]));

/** The beginning of a message of 3,000 bytes. */
const long = new Uint8Array([0, 0, 0, 11, 184, 10]);

/** The answer, and how long the server took for it, by its clock. */
async function timeOf<T>(clock: FakeClock, sent: Promise<T>): Promise<{ answer: T; seconds: number }> {
  const startMs = clock.monotonic();
  let answer: { value: T } | undefined;
  void sent.then((value) => {
    answer = { value };
  });
  while (answer === undefined) {
    await clock.advance(1_000);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return { answer: answer.value, seconds: (clock.monotonic() - startMs) / 1_000 };
}

/** Sends a byte every second of the server's clock, forever. */
function dripping(clock: FakeClock): Pick<CutRequest, 'drip'> {
  return { drip: (write) => clock.every(1_000, () => write(new Uint8Array(1))) };
}

function requestTo(server: EchoServer, path: string, contentType: string, part: Uint8Array): CutRequest {
  return { port: server.port, path, contentType, first: part, begun: () => Promise.resolve(), rest: new Uint8Array() };
}

const http1: [string, string, Uint8Array][] = [
  [say, 'application/json', Buffer.from('"')],
  [say, 'application/proto', Buffer.from([10])],
  [say, 'application/grpc-web+proto', first.subarray(0, 7)],
  [`${service}/Join`, 'application/grpc-web+proto', first.subarray(0, 7)],
  [`${service}/Chat`, 'application/connect+proto', long],
  ['/rpc/v1/authenticate', 'application/json', Buffer.from('{')],
  ['/proto.rpc.v1.AuthService/Authenticate', 'application/json', Buffer.from('{')],
  ['/a-page/with-a-form', 'application/x-www-form-urlencoded', Buffer.from('a=')],
  ['/platform.test.v1.OtherService/Say', 'application/grpc-web+proto', first],
];

const http2: [string, string, Uint8Array][] = [
  ...http1,
  [say, 'application/grpc', first],
  [say, 'application/grpc', first.subarray(0, 7)],
  [`${service}/Join`, 'application/grpc', first],
  [`${service}/Split`, 'application/grpc', first.subarray(0, 7)],
  [`${service}/Chat`, 'application/grpc', long],
];

describe.each(['stalls', 'trickles'] as const)('R17 a request whose body %s ends within 30 s', (how) => {
  const started = async (): Promise<{ server: EchoServer; clock: FakeClock }> => {
    const clock = new FakeClock();
    // These routes neither read bodies nor answer.
    return { clock, server: await startEcho({}, { clock, fallback: () => {} }) };
  };

  test.each(http1)('HTTP/1.1 %s %s', async (path, contentType, part) => {
    const { server, clock } = await started();
    await using _server = server;
    const request = requestTo(server, path, contentType, part);
    const drip = how === 'trickles' ? dripping(clock) : {};
    const { seconds } = await timeOf(clock, cutHttp1({ ...request, ...drip }, 'none', 0, 3_000));
    expect(seconds).toBeLessThanOrEqual(31);
    expect([server.calls.length, server.signIns.count]).toEqual([/Join/.test(path) ? 1 : 0, 0]);
  });

  test.each(http2)('HTTP/2 %s %s', async (path, contentType, part) => {
    const { server, clock } = await started();
    await using _server = server;
    const request = requestTo(server, path, contentType, part);
    const drip = how === 'trickles' ? dripping(clock) : {};
    const { seconds } = await timeOf(clock, cutHttp2({ ...request, ...drip }, 'none', 0));
    expect(seconds).toBeLessThanOrEqual(31);
  });

  test('even when it is refused before its first byte is read', async () => {
    const { server, clock } = await started();
    await using _server = server;
    server.tokens.clear();
    const request = requestTo(server, say, 'application/json', Buffer.from('"'));
    const drip = how === 'trickles' ? dripping(clock) : {};
    for (const send of [
      cutHttp1({ ...request, ...drip }, 'none', 0, 3_000),
      cutHttp2({ ...request, ...drip }, 'none', 0),
    ]) {
      expect((await timeOf(clock, send)).seconds).toBeLessThanOrEqual(31);
    }
  });
});

test('R17 a call whose body stalls is answered DEADLINE_EXCEEDED before any handler, and told what was expected', async () => {
  const clock = new FakeClock();
  await using server = await startEcho({}, { clock });
  const json = requestTo(server, say, 'application/json', Buffer.from('"'));
  const { answer } = await timeOf(clock, cutHttp1(json, 'none', 0, 100));
  expect(answer).toMatch(/^HTTP\/1.1 504 /);
  expect(answer).toMatch(/expected at least 4096 bytes of the request of .*Say in 15000 ms, or its end, found [01]:/);
  const grpc = requestTo(server, say, 'application/grpc', first.subarray(0, 7));
  expect((await timeOf(clock, cutHttp2(grpc, 'none', 0))).answer).toBe('4');
  expect(server.calls).toHaveLength(0);
});

test('R17 a slow body of 300 bytes a second is accepted, and a stream in both directions may be quiet between messages', async () => {
  const clock = new FakeClock();
  await using server = await startEcho({}, { clock });
  const text = JSON.stringify('x'.repeat(30_000));
  const parts = Array.from({ length: Math.ceil(text.length / 300) }, (_, at) => text.slice(at * 300, at * 300 + 300));
  let at = 0;
  const drip = (write: (bytes: Uint8Array) => void): Disposable =>
    clock.every(1_000, () => {
      const part = parts[at++];
      if (part !== undefined) write(Buffer.from(part));
    });
  const slow = { ...requestTo(server, say, 'application/json', new Uint8Array()), drip };
  const { answer, seconds } = await timeOf(clock, cutHttp1(slow, 'none', 0, text.length));
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
  expect(seconds).toBeGreaterThanOrEqual(100);

  const silent = { begun: () => clock.advance(3_600_000) };
  const chat = { ...requestTo(server, `${service}/Chat`, 'application/grpc', first), ...silent };
  expect(await cutHttp2(chat, 'end', 0)).toBe('0');
});

test('a bidirectional stream may continue with small messages, one after another', async () => {
  const clock = new FakeClock();
  await using server = await startEcho({}, { clock });
  let seconds = 0;
  const drip = (write: (bytes: Uint8Array) => void): Disposable =>
    clock.every(1_000, () => {
      seconds++;
      write(first.subarray(seconds % 2 === 0 ? 6 : 0, seconds % 2 === 0 ? undefined : 6));
    });
  const chat = { ...requestTo(server, `${service}/Chat`, 'application/grpc', first), drip };
  let ended = false;
  void cutHttp2(chat, 'none', 0).then(() => {
    ended = true;
  });
  await expect.poll(() => server.calls.length).toBe(1);
  for (let second = 0; second < 120; second++) {
    await clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect([seconds > 100, ended]).toEqual([true, false]);
  const closing = server.close({ graceMs: 0 });
  await clock.advance(60_000);
  await closing;
});
