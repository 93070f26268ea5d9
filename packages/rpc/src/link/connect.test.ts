import { once } from 'node:events';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, createServer } from 'node:net';
import { errorText, PlatformError } from '@platform/base';
import { temporaryDirectory } from '@platform/testkit';
import { describe, expect, test } from 'vitest';
import { EchoService } from '../../test/echo-service.ts';
import { credentials, startEcho } from '../../test/start-echo.ts';
import { connect } from './connect.ts';

async function* words(...values: string[]): AsyncGenerator<{ value: string }> {
  for (const value of values) yield { value };
}

async function texts(messages: AsyncIterable<{ value: string }>): Promise<string[]> {
  const values: string[] = [];
  for await (const { value } of messages) values.push(value);
  return values;
}

describe('a link over gRPC', () => {
  test('carries all four kinds of call on one connection with one token', async () => {
    await using server = await startEcho();
    await using link = connect({ baseUrl: server.url, credentials });
    const echo = link.client(EchoService);
    expect(link.state).toBe('idle');
    const both = await Promise.all([echo.say({ value: 'hello' }), echo.join(words('a', 'b', 'c'))]);
    expect(both.map(({ value }) => value)).toEqual(['you said hello', 'a b c']);
    expect(await texts(echo.split({ value: 'x y z' }))).toEqual(['x', 'y', 'z']);
    expect(await texts(echo.chat(words('up', 'and')))).toEqual(['UP', 'AND']);
    expect(server.signIns.count).toBe(1);
    expect(new Set(server.calls.map((call) => call.peerAddress)).size).toBe(1);
    expect(link.state).toBe('connected');
  });

  test('a bidirectional stream is answered message by message', async () => {
    await using server = await startEcho();
    await using link = connect({ baseUrl: server.url, credentials });
    const turns = Array.from({ length: 3 }, () => Promise.withResolvers<string>());
    async function* conversation(): AsyncGenerator<{ value: string }> {
      for (const turn of turns) yield { value: await turn.promise };
    }
    const answers: string[] = [];
    turns[0]?.resolve('one');
    for await (const { value } of link.client(EchoService).chat(conversation())) {
      answers.push(value);
      turns[answers.length]?.resolve(`${value}!`);
    }
    expect(answers).toEqual(['ONE', 'ONE!', 'ONE!!']);
  });

  test('D5 a refused token is replaced once, by one sign-in shared by all refused calls', async () => {
    await using server = await startEcho();
    await using link = connect({ baseUrl: server.url, credentials });
    const echo = link.client(EchoService);
    await echo.say({ value: 'first' });
    server.tokens.clear();
    server.tokens.add('token-2');
    const answers = await Promise.all([
      echo.say({ value: 'a' }),
      echo.say({ value: 'b' }),
      texts(echo.split({ value: 'c d' })),
    ]);
    expect(answers.map((answer) => (Array.isArray(answer) ? answer : answer.value))).toEqual([
      'you said a',
      'you said b',
      ['c', 'd'],
    ]);
    expect(server.signIns.count).toBe(2);
  });

  test('D5 a stream to the server cannot be repeated: it fails, and the next call signs in again', async () => {
    await using server = await startEcho();
    await using link = connect({ baseUrl: server.url, credentials });
    const echo = link.client(EchoService);
    await echo.say({});
    server.tokens.clear();
    server.tokens.add('token-2');
    await expect(echo.join(words('a'))).rejects.toMatchObject({ code: 'unauthenticated' });
    expect((await echo.join(words('a'))).value).toBe('a');
  });

  test('a token that is refused again fails the call after one repetition', async () => {
    await using server = await startEcho();
    await using link = connect({ baseUrl: server.url, credentials });
    server.tokens.clear();
    await expect(link.client(EchoService).say({})).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(server.signIns.count).toBe(2);
  });

  test('wrong credentials are reported in the server’s words, and the next call tries again', async () => {
    await using server = await startEcho();
    await using link = connect({ baseUrl: server.url, credentials: { ...credentials, payload: 'wrong' } });
    const client = link.client(EchoService);
    for (const count of [1, 2]) {
      await expect(client.say({})).rejects.toMatchObject({
        code: 'permission_denied',
        message: expect.stringContaining('key-1'),
      });
      expect(server.signIns.count).toBe(count);
    }
  });

  test('after a server restart the next call reconnects, with its existing token', async () => {
    const first = await startEcho();
    await using link = connect({ baseUrl: first.url, credentials });
    const echo = link.client(EchoService);
    await echo.say({});
    await first.close({ graceMs: 0 });
    await expect(echo.say({})).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(first.url),
    });
    expect(link.state).toBe('unreachable');
    await using second = await startEcho({}, { port: first.port });
    expect((await echo.say({ value: 'again' })).value).toBe('you said again');
    expect(second.signIns.count).toBe(0);
  });

  test('calls end by their own deadline, the default deadline, or the caller’s signal', async () => {
    const leave = new AbortController();
    await using server = await startEcho({
      say({ value }) {
        if (value === 'leave') leave.abort();
        return new Promise(() => {});
      },
    });
    await using link = connect({ baseUrl: server.url, credentials, timeoutMs: 60 });
    const echo = link.client(EchoService);
    await expect(echo.say({})).rejects.toMatchObject({ code: 'deadline_exceeded' });
    await expect(echo.say({}, { timeoutMs: 30 })).rejects.toMatchObject({ code: 'deadline_exceeded' });
    const left = echo.say({ value: 'leave' }, { signal: leave.signal, timeoutMs: 0 });
    await expect(left).rejects.toMatchObject({ code: 'canceled' });
  });

  test('the deadline of a call covers the sign-in that it waits for', async () => {
    await using silent = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const baseUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    await using link = connect({ baseUrl, credentials });
    const echo = link.client(EchoService);
    const late = {
      code: 'deadline_exceeded',
      message: `signing in to ${baseUrl} took longer than the call may: 40 ms`,
    };
    await expect(echo.say({}, { timeoutMs: 40 })).rejects.toMatchObject(late);
    await expect(echo.join(words('a'), { timeoutMs: 40 })).rejects.toMatchObject(late);
  });

  test('a response over the limit is RESOURCE_EXHAUSTED', async () => {
    await using server = await startEcho({ say: () => ({ value: 'x'.repeat(2000) }) });
    await using link = connect({ baseUrl: server.url, credentials, maxMessageBytes: 1000 });
    await expect(link.client(EchoService).say({})).rejects.toMatchObject({
      code: 'resource_exhausted',
      message: `platform.test.v1.EchoService/Say: expected a message of at most 1000 bytes (maxMessageBytes) from ${server.url}, found one of 2003 bytes: request less at once`,
    });
  });

  test('so is one of a stream; what a server says about a size that it read is its own answer', async () => {
    const size = 'message size 2003 is larger than configured readMaxBytes 1000';
    await using server = await startEcho({
      say: () => {
        throw new PlatformError('resource_exhausted', size);
      },
      async *split() {
        yield { value: 'x'.repeat(2000) };
      },
    });
    await using link = connect({ baseUrl: server.url, credentials, maxMessageBytes: 1000 });
    const echo = link.client(EchoService);
    await expect(texts(echo.split({}))).rejects.toMatchObject({
      code: 'resource_exhausted',
      message: `platform.test.v1.EchoService/Split: expected a message of at most 1000 bytes (maxMessageBytes) from ${server.url}, found one of 2003 bytes: request less at once`,
    });
    await expect(echo.say({})).rejects.toMatchObject({ code: 'resource_exhausted', message: size });
  });

  test('a megabyte-sized message passes whole in both directions', async () => {
    await using server = await startEcho();
    await using link = connect({ baseUrl: server.url, credentials });
    const value = 'x'.repeat(6 * 1024 * 1024);
    expect((await link.client(EchoService).say({ value })).value).toHaveLength(value.length + 9);
  });

  test('D16 plaintext credentials go to loopback, and elsewhere only if allowed', () => {
    const refused = { code: 'failed_precondition', message: expect.stringContaining('cloud.example:8080') };
    expect(() => connect({ baseUrl: 'http://cloud.example:8080', credentials })).toThrow(
      expect.objectContaining(refused),
    );
    const fine = ['http://localhost:1', 'http://127.8.0.1:1', 'http://[::1]:1', 'https://cloud.example'];
    for (const baseUrl of fine) expect(connect({ baseUrl, credentials }).state).toBe('idle');
    expect(connect({ baseUrl: 'http://cloud.example', credentials, allowInsecureCredentials: true }).state).toBe(
      'idle',
    );
    expect(connect({ baseUrl: 'http://cloud.example' }).state).toBe('idle');
    expect(() => connect({ baseUrl: 'cloud.example:8080' })).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    );
  });

  test('disposing a link closes its connection', async () => {
    await using server = await startEcho();
    const link = connect({ baseUrl: server.url, credentials });
    await link.client(EchoService).say({});
    await link[Symbol.asyncDispose]();
    expect(link.state).toBe('closed');
    await expect(link.client(EchoService).say({})).rejects.toMatchObject({ code: 'unavailable' });
  });
});

test('a socket whose server has not started, or has ended, cannot be reached: unavailable', async () => {
  await using directory = await temporaryDirectory();
  const socketPath = directory.file('none.sock');
  await using link = connect({ baseUrl: 'http://localhost', socketPath, peerName: 'the module' });
  await expect(link.client(EchoService).say({ value: 'x' })).rejects.toMatchObject({
    ...{ code: 'unavailable', message: expect.stringContaining('the module cannot be reached') },
  });
});

test.each([
  ['4', 'deadline_exceeded', /Say was not answered in time$/],
  ['5', 'not_found', /Say was answered NOT_FOUND without a message$/],
])('an error %s without a message, as servers in Python send, gets one', async (status, code, text) => {
  const server = createHttp2Server();
  const answer = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': status };
  server.on('stream', (stream) => stream.respond(answer, { endStream: true })).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await using link = connect({ baseUrl: `http://127.0.0.1:${port}` });
  const error: unknown = await link
    .client(EchoService)
    .say({})
    .catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code, message: expect.stringMatching(text) });
  expect(errorText(error)).toMatch(text);
  server.close();
});
