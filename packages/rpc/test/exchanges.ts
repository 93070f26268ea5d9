/** Calls of each type, their answers, and how they end while virtual time passes: for networks that do something to them. */
import type { ServerHttp2Stream } from 'node:http2';
import type { FakeClock } from '@platform/testkit';
import type { Link } from '../src/link/connect.ts';
import { EchoService } from './echo-service.ts';

/** Answers any call with one message, "text". */
export function answer(stream: ServerHttp2Stream): void {
  if (stream.destroyed) return;
  stream.resume();
  stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  // In an envelope.
  stream.end(Buffer.from([0, 0, 0, 0, 6, 0x0a, 4, 0x74, 0x65, 0x78, 0x74]));
}

export type Call = (link: Link, signal: AbortSignal) => Promise<unknown>;

async function* words(): AsyncGenerator<{ value: string }> {
  yield { value: 'a' };
  yield { value: 'b' };
}

export const callTypes: Readonly<Record<string, Call>> = {
  'a unary call': (link, signal) => link.client(EchoService).say({ value: 'x' }, { signal }),
  async 'a stream'(link, signal) {
    for await (const _ of link.client(EchoService).split({ value: 'x' }, { signal }));
  },
  'a stream to the peer': (link, signal) => link.client(EchoService).join(words(), { signal }),
  async 'a stream in both directions'(link, signal) {
    for await (const _ of link.client(EchoService).chat(words(), { signal }));
  },
};

/** Nobody said that something is wrong with the request. */
export const endings: ReadonlySet<string> = new Set(['unavailable', 'internal', 'unimplemented', 'resource_exhausted']);

/** Time passes until the call has ended; after 300 s, its caller ends it. @returns `ok`, or its error */
export async function settle(clock: FakeClock, link: Link, call: Call): Promise<unknown> {
  let isOver = false;
  const caller = new AbortController();
  const result = call(link, caller.signal).then(
    () => 'ok',
    (caught: unknown) => caught,
  );
  void result.finally(() => {
    isOver = true;
  });
  for (let seconds = 0; !isOver; seconds++) {
    if (seconds === 300) caller.abort();
    await clock.advance(1_000);
  }
  return result;
}
