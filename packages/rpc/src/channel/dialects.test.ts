/** Frames as public clients send them: Go, TypeScript and Rust (Python) each frame calls in their own way. */
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { StringValueSchema } from '@bufbuild/protobuf/wkt';
import { silentLog, systemClock } from '@platform/base';
import { RequestSchema, type Response, ResponseSchema } from '@platform/proto/proto/rpc/webrtc/v1/grpc';
import { FakeClock } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { EchoService } from '../../test/echo-service.ts';
import { type Handlers, serve } from '../core/binding.ts';
import { createChannelServer } from './server/channel-server.ts';
import { channelPair } from './testing/channel-pair.ts';

type Type = NonNullable<MessageInitShape<typeof RequestSchema>['type']>;

function given(handlers: Handlers<typeof EchoService, string>, clock = systemClock) {
  const [near, far] = channelPair();
  const server = createChannelServer<string>({
    services: [serve<typeof EchoService, string>(EchoService, handlers)],
    ...{ clock, log: silentLog },
  });
  void server.serve(far, { address: 'peer:1', authenticate: async () => 'ada' });
  onTestFinished(() => near.close());
  const answers: Response[] = [];
  near.onMessage = (message) => void answers.push(fromBinary(ResponseSchema, message));
  const send = (id: bigint, type: Type): void =>
    near.send(toBinary(RequestSchema, create(RequestSchema, { stream: { id }, type })));
  const head = (id: bigint, method: string, more: object = {}): void =>
    send(id, { case: 'headers', value: { method: `/platform.test.v1.EchoService/${method}`, ...more } });
  const part = (id: bigint, data: Uint8Array, flags: { eom?: boolean; eos?: boolean }): void =>
    send(id, {
      case: 'message',
      value: { hasMessage: true, packetMessage: { data, eom: flags.eom ?? true }, eos: flags.eos ?? false },
    });
  const end = (id: bigint, packet: boolean): void =>
    send(id, {
      case: 'message',
      value: { hasMessage: false, ...(packet && { packetMessage: { eom: true } }), eos: true },
    });
  /** What a call was answered: its texts, then its code and message. */
  const outcome = async (id: bigint): Promise<unknown[]> => {
    const own = (): Response[] => answers.filter(({ stream }) => (stream?.id ?? 0n) === id);
    await expect.poll(() => own().at(-1)?.type.case).toBe('trailers');
    return own().map(({ type }) => {
      if (type.case === 'headers') return 'headers';
      if (type.case === 'message')
        return fromBinary(StringValueSchema, type.value.packetMessage?.data ?? new Uint8Array()).value;
      return type.case === 'trailers' ? (type.value.status?.code ?? 0) : type.case;
    });
  };
  return { near, far, send, head, part, end, outcome };
}

const hello = toBinary(StringValueSchema, create(StringValueSchema, { value: 'hello, all' }));
const echo: Handlers<typeof EchoService, string> = {
  say: ({ value }, { deadline }) => ({ value: `${value} ${deadline !== undefined}` }),
  async join(requests) {
    let all = '';
    for await (const { value } of requests) all += value;
    return { value: all };
  },
  async *chat(requests) {
    for await (const { value } of requests) yield { value };
  },
};

test('TypeScript: ids from 0, a request without end, and a stream that ends with an empty packet', async () => {
  const { head, part, end, outcome } = given(echo);
  head(0n, 'Say');
  part(0n, hello, {});
  expect(await outcome(0n)).toEqual(['headers', 'hello, all false', 0]);
  head(1n, 'Chat');
  part(1n, hello, {});
  end(1n, true);
  expect(await outcome(1n)).toEqual(['headers', 'hello, all', 0]);
});

test('Go: ids from 1, a zero time limit, and eos on every packet of a message in pieces', async () => {
  const { head, part, outcome } = given(echo);
  head(1n, 'Say', { timeout: {} });
  part(1n, hello.subarray(0, 4), { eom: false, eos: true });
  part(1n, hello.subarray(4, 8), { eom: false, eos: true });
  part(1n, hello.subarray(8), { eos: true });
  expect(await outcome(1n)).toEqual(['headers', 'hello, all false', 0]);
  head(2n, 'Join', { timeout: { seconds: 5n } });
  part(2n, hello, { eos: true });
  expect(await outcome(2n)).toEqual(['headers', 'hello, all', 0]);
  head(3n, 'Missing');
  part(3n, hello, { eos: true });
  expect(await outcome(3n)).toEqual(['headers', 12]);
});

test('Rust: all headers of HTTP in the metadata, with the time limit, and an end without a packet', async () => {
  const { head, part, end, outcome } = given(echo);
  const md = {
    'grpc-timeout': { values: ['5S'] },
    'content-type': { values: ['application/grpc'] },
    te: { values: ['trailers'] },
    'user-agent': { values: ['tonic'] },
  };
  head(0n, 'Say', { metadata: { md } });
  part(0n, hello, {});
  end(0n, false);
  expect(await outcome(0n)).toEqual(['headers', 'hello, all true', 0]);
  head(1n, 'Join', { metadata: { md } });
  part(1n, hello, {});
  end(1n, false);
  expect(await outcome(1n)).toEqual(['headers', 'hello, all', 0]);
});

test('a time limit in either place ends the call as DEADLINE_EXCEEDED', async () => {
  const clock = new FakeClock();
  const { near, head, part, outcome } = given({ say: () => new Promise(() => {}) }, clock);
  head(1n, 'Say', { timeout: { seconds: 5n } });
  part(1n, hello, { eos: true });
  head(2n, 'Say', { metadata: { md: { 'grpc-timeout': { values: ['5000m'] } } } });
  await expect.poll(() => near.bufferedBytes).toBe(0);
  await clock.advance(5_001);
  expect([await outcome(1n), await outcome(2n)]).toEqual([
    ['headers', 4],
    ['headers', 4],
  ]);
});

test('bytes that are no frame end only their own channel; wrong order, unknown ids and second heads change nothing', async () => {
  const { near, far, send, head, part, end, outcome } = given(echo);
  part(7n, hello, {});
  send(8n, { case: 'rstStream', value: true });
  head(3n, 'Say');
  head(3n, 'Chat');
  head(2n, 'Chat');
  part(3n, hello, {});
  expect(await outcome(3n)).toEqual(['headers', 'hello, all false', 0]);
  head(4n, 'Say');
  end(4n, false);
  expect(await outcome(4n)).toEqual(['headers', 3]);
  head(5n, 'Say');
  part(5n, Uint8Array.of(0xff, 0xff, 0xff), {});
  expect(await outcome(5n)).toEqual(['headers', 3]);
  head(6n, 'Say', { metadata: { md: { 'a b': { values: ['x'] } } } });
  expect(await outcome(6n)).toEqual(['headers', 3]);
  send(9n, { case: 'headers', value: { method: 'nonsense' } });
  expect(await outcome(9n)).toEqual(['headers', 12]);
  near.send(Uint8Array.of(0xff, 0xff, 0xff, 0xff));
  await expect.poll(() => far.ended.aborted).toBe(true);
});

test('more than 256 calls at once, and requests beyond what waits, are RESOURCE_EXHAUSTED, and the others go on', async () => {
  const { head, part, outcome } = given({
    ...echo,
    say: ({ value }) => (value === 'hello, all' ? {} : new Promise(() => {})),
  });
  for (let id = 0n; id < 257n; id++) head(id, 'Say');
  expect(await outcome(256n)).toEqual(['headers', 8]);
  part(0n, hello, {});
  expect(await outcome(0n)).toEqual(['headers', '', 0]);
  const large = new Uint8Array(60_000);
  for (let sent = 0; sent < 33 * 1024 * 1024; sent += large.length) part(1n, large, { eom: false });
  expect(await outcome(1n)).toEqual(['headers', 8]);
  part(2n, hello, {});
  expect(await outcome(2n)).toEqual(['headers', '', 0]);
});
