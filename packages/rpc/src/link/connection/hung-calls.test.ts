/** How long calls hang on a connection that passes nothing any more, on a virtual clock (ADR-0066). */
import { once } from 'node:events';
import type { ServerHttp2Stream } from 'node:http2';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { EchoService } from '../../../test/echo-service.ts';
import { type ScriptedPeer, startScriptedPeer } from '../../../test/scripted-peer.ts';
import { type Client, connect, type Link } from '../connect.ts';
import { CallCutOff } from './connection.ts';

const callSilentMs = 3_000;
const answerMs = 5_000;
const large = 'x'.repeat(100_000);

interface Rig extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly peer: ScriptedPeer;
  readonly echo: Client<typeof EchoService>;
  /** From now on, calls wait here for their answers. */
  hold(streams: ServerHttp2Stream[]): void;
  /** The first connection passes nothing to the peer any more. */
  lose(): Promise<void>;
  /** How long the call takes, in ms of the clock, and what it throws. */
  timeOf(call: Promise<unknown>): Promise<{ readonly ms: number; readonly error: unknown }>;
}

async function rig(): Promise<Rig> {
  await using stack = new AsyncDisposableStack();
  let answer = answerAtEnd;
  const peer = stack.use(await startScriptedPeer({ answer: (stream) => answer(stream) }));
  const clock = new FakeClock();
  const link: Link = stack.use(connect({ baseUrl: peer.url, timeoutMs: 0, clock, callSilentMs }));
  const unwinding = stack.move();
  return {
    ...{ clock, peer, echo: link.client(EchoService) },
    hold(streams) {
      answer = (stream) => void streams.push(stream);
    },
    async lose() {
      (await peer.connection(0)).holdRequests(true);
    },
    async timeOf(call) {
      const fromMs = clock.monotonic();
      let ended: { ms: number; error: unknown } | undefined;
      const end = (error: unknown): void => {
        ended = { ms: clock.monotonic() - fromMs, error };
      };
      call.then(() => end(undefined), end);
      for (;;) {
        for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
        if (ended !== undefined) return ended;
        await clock.advance(100);
      }
    },
    [Symbol.asyncDispose]: () => unwinding.disposeAsync(),
  };
}

/** Answers once it has the whole request. */
function answerAtEnd(stream: ServerHttp2Stream): void {
  stream.resume().on('end', () => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.alloc(5));
  });
}

test('ADR-0066 a call ends after 8 s, however much was sent and answered before it, and the next one gets another connection', async () => {
  await using world = await rig();
  const { echo, lose, timeOf, peer } = world;
  for (let upload = 0; upload < 20; upload++) await echo.say({ value: large });
  await lose();
  const { ms, error } = await timeOf(echo.say({ value: 'x'.repeat(10_000) }));
  expect(error).toMatchObject({ code: 'unavailable', cause: expect.any(CallCutOff) });
  expect(ms).toBeLessThanOrEqual(callSilentMs + answerMs);
  await echo.say({});
  expect(peer.connections).toHaveLength(2);
});

test('ADR-0066 beside an upload that may only be slow, small calls go on after 8 s, and the upload ends after 23 s', async () => {
  await using world = await rig();
  const { clock, echo, lose, timeOf, peer } = world;
  await echo.say({});
  await lose();
  const upload = echo.say({ value: large });
  const sentMs = clock.monotonic();
  const small = await timeOf(echo.say({ value: 'x'.repeat(3_000) }));
  expect(small.error).toMatchObject({ code: 'unavailable', cause: expect.any(CallCutOff) });
  expect(small.ms).toBeLessThanOrEqual(callSilentMs + answerMs);
  await echo.say({});
  expect(peer.connections).toHaveLength(2);
  const { error } = await timeOf(upload);
  expect(error).toMatchObject({ code: 'unavailable', cause: expect.any(CallCutOff) });
  expect(clock.monotonic() - sentMs).toBeLessThanOrEqual(23_000);
});

test('an upload over a slow line, on which nothing arrives for 17 s, is not cut', async () => {
  await using world = await rig();
  const { clock, echo, lose, timeOf, peer } = world;
  await echo.say({});
  await lose();
  // The peer allows 64 KiB at first, which take 16 s at 32 kbit/s.
  const upload = echo.say({ value: large });
  await timeOf(clock.sleep(17_000));
  (await peer.connection(0)).holdRequests(false);
  expect(await upload).toMatchObject({ value: '' });
});

test('an idle connection is not asked before a call for 15 s, nor while the call is answered sooner', async () => {
  await using world = await rig();
  const { clock, echo, peer } = world;
  await echo.say({});
  let pings = 0;
  const { session } = await peer.connection(0);
  session.on('ping', () => pings++);
  for (let call = 0; call < 10; call++) {
    await clock.advance(14_000);
    await echo.say({});
  }
  expect(pings).toBe(0);
  await clock.advance(15_000);
  const pinged = once(session, 'ping');
  await echo.say({});
  await pinged;
});

test('ADR-0066 an answer to something else, after the PING was sent, postpones the end to 8 s after it, not to those of another PING', async () => {
  await using world = await rig();
  const { clock, echo, lose, timeOf, peer } = world;
  const streams: ServerHttp2Stream[] = [];
  world.hold(streams);
  const late = echo.say({});
  await expect.poll(() => streams.length).toBe(1);
  await lose();
  const hung = echo.say({});
  await timeOf(clock.sleep(callSilentMs + 500));
  for (const stream of streams) answerAtEnd(stream);
  await late;
  const { ms, error } = await timeOf(hung);
  expect(error).toMatchObject({ code: 'unavailable', cause: expect.any(CallCutOff) });
  expect(ms).toBeLessThanOrEqual(callSilentMs + answerMs + 100);
  expect(peer.connections).toHaveLength(1);
});
