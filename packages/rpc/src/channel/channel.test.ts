import { createClient } from '@connectrpc/connect';
import { notFound, silentLog, systemClock } from '@platform/base';
import { Health } from '@platform/proto/grpc/health/v1/health';
import { FakeClock } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { EchoService } from '../../test/echo-service.ts';
import { type Handlers, serve } from '../core/binding.ts';
import { channelTransport } from './client/channel-transport.ts';
import { createChannelServer } from './server/channel-server.ts';
import { channelPair } from './testing/channel-pair.ts';

const mib = 1024 * 1024;

function given(handlers: Handlers<typeof EchoService, string>, clock = systemClock) {
  const [near, far] = channelPair();
  const server = createChannelServer<string>({
    services: [serve<typeof EchoService, string>(EchoService, handlers)],
    clock,
    log: silentLog,
  });
  const served = server.serve(far, { address: 'peer:1', authenticate: async () => 'ada' });
  onTestFinished(async () => {
    near.close();
    await served;
    await server[Symbol.asyncDispose]();
  });
  const transport = channelTransport({ channel: near, clock });
  return { near, far, server, served, client: createClient(EchoService, transport), transport };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function* each(...values: readonly string[]) {
  for (const value of values) yield { value };
}

test('calls of every kind pass over a channel, with headers, trailers, the caller and errors', async () => {
  const { client, transport } = given({
    say: ({ value }, { principal, peerAddress, metadata, responseHeaders, responseTrailers }) => {
      if (value === '') throw notFound('nothing — to say');
      responseHeaders.set('opid', '7');
      responseTrailers.set('cost', '3');
      return { value: `${principal} ${peerAddress} ${metadata.get('viam-sid')} ${value}` };
    },
    async *split({ value }) {
      for (const letter of value) yield { value: letter };
    },
    async join(requests) {
      return { value: (await all(requests)).map(({ value }) => value).join('') };
    },
    async *chat(requests) {
      for await (const { value } of requests) yield { value: value.toUpperCase() };
    },
  });
  const seen: (string | null)[] = [];
  const answer = await client.say(
    { value: 'hello' },
    {
      headers: { 'viam-sid': 's' },
      onHeader: (headers) => seen.push(headers.get('opid')),
      onTrailer: (trailers) => seen.push(trailers.get('cost')),
    },
  );
  expect([answer.value, ...seen]).toEqual(['ada peer:1 s hello', '7', '3']);
  await expect(client.say({ value: '' })).rejects.toMatchObject({ code: 5, rawMessage: 'nothing — to say' });
  expect((await all(client.split({ value: 'abc' }))).map(({ value }) => value)).toEqual(['a', 'b', 'c']);
  expect((await client.join(each('a', 'b', 'c'))).value).toBe('abc');
  expect((await all(client.chat(each('a', 'b')))).map(({ value }) => value)).toEqual(['A', 'B']);
  expect((await createClient(Health, transport).check({})).status).toBe(1);
});

test('messages of 32 MiB pass in both directions beside short ones; longer ones are RESOURCE_EXHAUSTED, and the channel goes on', async () => {
  const { client } = given({ say: ({ value }) => ({ value: value === 'more' ? 'x'.repeat(33 * mib) : value }) });
  const large = 'y'.repeat(32 * mib - 100);
  const [echoed, short] = await Promise.all([client.say({ value: large }), client.say({ value: 'short' })]);
  expect([echoed.value === large, short.value]).toEqual([true, 'short']);
  const tooLarge = { code: 8, rawMessage: expect.stringContaining('32') };
  await expect(client.say({ value: 'z'.repeat(33 * mib) })).rejects.toMatchObject({ code: 8 });
  await expect(client.say({ value: 'more' })).rejects.toMatchObject({ ...tooLarge, rawMessage: expect.any(String) });
  expect((await client.say({ value: 'still' })).value).toBe('still');
});

test('a call ends on the server when its caller gives it up, its time is over, or the channel ends', async () => {
  const clock = new FakeClock();
  const ended: string[] = [];
  const { client, near } = given(
    {
      say: (_request, { signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            ended.push(String(signal.reason?.rawMessage));
            reject(signal.reason);
          }),
        ),
    },
    clock,
  );
  const giving = new AbortController();
  const given1 = client.say({ value: '' }, { signal: giving.signal });
  await expect.poll(() => near.bufferedBytes).toBe(0);
  giving.abort();
  await expect(given1).rejects.toMatchObject({ code: 1 });
  await expect.poll(() => ended).toEqual(['the client left']);
  const late = client.say({ value: '' }, { timeoutMs: 500 });
  const outcome = expect(late).rejects.toMatchObject({ code: 4 });
  await expect.poll(() => near.bufferedBytes).toBe(0);
  await clock.advance(600);
  await outcome;
  await expect.poll(() => ended).toHaveLength(2);
  const cut = client.say({ value: '' });
  await expect.poll(() => near.bufferedBytes).toBe(0);
  near.close();
  await expect(cut).rejects.toMatchObject({ code: 14 });
  await expect.poll(() => ended).toHaveLength(3);
});

test('answers wait for a channel that is not read, and bytes that wait are limited', async () => {
  let made = 0;
  const { client, far } = given({
    async *split() {
      for (; made < 200; made++) yield { value: 'x'.repeat(mib) };
    },
  });
  far.hold();
  const answers = client.split({ value: '' })[Symbol.asyncIterator]();
  const first = answers.next();
  await expect.poll(() => far.bufferedBytes).toBeGreaterThan(mib);
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(made).toBeLessThan(4);
  far.release();
  expect((await first).value?.value.length).toBe(mib);
  await answers.return?.();
});

test('a server that stops ends its calls as UNAVAILABLE', async () => {
  const begun = Promise.withResolvers<void>();
  const { client, server } = given({
    say() {
      begun.resolve();
      return new Promise(() => {});
    },
  });
  const waiting = client.say({ value: '' });
  const outcome = expect(waiting).rejects.toMatchObject({
    code: 14,
    rawMessage: expect.stringContaining('shutting down'),
  });
  await begun.promise;
  await server[Symbol.asyncDispose]();
  await outcome;
});

test('after its first answer a client shows every 2 s that it is there; when it falls silent, the server ends the channel after 5 s', async () => {
  const clock = new FakeClock();
  const { client, near, far } = given({ say: ({ value }) => ({ value }) }, clock);
  await client.say({ value: 'a' });
  const pass = async (ms: number): Promise<void> => {
    for (let at = 0; at < ms; at += 500) {
      await clock.advance(500);
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await pass(30_000);
  expect(far.ended.aborted).toBe(false);
  // The network goes.
  near.hold();
  await pass(6_500);
  expect(far.ended.aborted).toBe(true);
});
