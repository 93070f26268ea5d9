import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { StringValueSchema } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { EchoService } from '../../test/echo-service.ts';
import { credentials, type EchoServer, type Principal, startEcho } from '../../test/start-echo.ts';
import { serve } from '../core/binding.ts';
import { connect } from '../link/connect.ts';
import type { ForwardCalls } from './forward-call.ts';

/** The echo service, under the name of a service that only the other server has. */
const parent = { ...EchoService, typeName: 'acme.v1.Thing' };
parent.methods = EchoService.methods.map((method) => ({ ...method, parent }));

/** Passes on whatever has the header `to`, except for calls to the echo service. */
async function startPassing(): Promise<EchoServer & { readonly bound: string[] }> {
  const bound: string[] = [];
  const { say, split, chat } = EchoService.method;
  const like = { unary: say, server_streaming: split, bidi_streaming: chat };
  const bind: ForwardCalls<Principal>['bind'] = (path, kind) => {
    const [, typeName = '', name = ''] = path.split('/');
    if (typeName === EchoService.typeName) return undefined;
    bound.push(`${kind} ${path}`);
    const method = { ...like[kind], name, parent };
    return serve<typeof EchoService, Principal>(
      { ...parent, methods: [method] },
      {
        say: ({ value }, { metadata }) => ({ value: `${value} at ${metadata.get('to')}` }),
        async *split({ value }, { metadata }) {
          yield { value: `${value} at ${metadata.get('to')}` };
        },
        async *chat(requests, { metadata }) {
          for await (const { value } of requests) yield { value: `${value} at ${metadata.get('to')}` };
        },
      },
    );
  };
  return Object.assign(
    await startEcho({}, { forwardCalls: { forwards: (_, headers) => headers['to'] !== undefined, bind } }),
    { bound },
  );
}

function envelope(message: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([0, 0, 0, 0, message.length, ...message]);
}

async function* each(...values: readonly string[]) {
  for (const value of values) yield { value };
}

test('calls of any kind with the header are bound on arrival; others are answered here', async () => {
  await using server = await startPassing();
  await using link = connect({ baseUrl: server.url, credentials });
  const headers = { to: 'mill' };
  const thing = link.client(parent);
  expect((await thing.say({ value: 'hi' }, { headers })).value).toBe('hi at mill');
  expect((await thing.say({ value: 'ho' }, { headers })).value).toBe('ho at mill');
  const parts: string[] = [];
  for await (const { value } of thing.chat(each('a', 'b'), { headers })) parts.push(value);
  for await (const { value } of thing.split({ value: 'c' }, { headers })) parts.push(value);
  expect(parts).toEqual(['a at mill', 'b at mill', 'c at mill']);
  expect((await link.client(EchoService).join(each('a', 'b'), { headers })).value).toBe('a b');
  await expect(thing.say({ value: 'hi' })).rejects.toThrow('this server has no service acme.v1.Thing');
  expect(server.bound).toEqual(['Say', 'Chat', 'Split'].map((name) => `bidi_streaming /acme.v1.Thing/${name}`));
});

test('binary Connect calls are forwarded, JSON is refused with a reason, and so are calls without credentials', async () => {
  await using server = await startPassing();
  const post = (type: string, body: Uint8Array<ArrayBuffer> | string, authorization: string) =>
    fetch(`${server.url}/acme.v1.Thing/Say`, {
      ...{ method: 'POST', body, headers: { to: 'mill', 'content-type': type, authorization } },
    });
  const message = Uint8Array.from(toBinary(StringValueSchema, create(StringValueSchema, { value: 'hi' })));
  const answer = await post('application/proto', message, 'Bearer token-1');
  expect(fromBinary(StringValueSchema, new Uint8Array(await answer.arrayBuffer())).value).toBe('hi at mill');
  const json = await post('application/json', '{}', 'Bearer token-1');
  expect([json.status, await json.json()]).toEqual([
    501,
    { code: 'unimplemented', message: expect.stringContaining('expected a message in binary') },
  ]);
  expect((await post('application/proto', message, 'Bearer no')).status).toBe(401);
  // Also gRPC-Web, which browsers speak over HTTP/1.1.
  const web = await post('application/grpc-web+proto', envelope(message), 'Bearer token-1');
  const bytes = new Uint8Array(await web.arrayBuffer());
  expect(fromBinary(StringValueSchema, bytes.subarray(5, 5 + (bytes[4] ?? 0))).value).toBe('hi at mill');
  expect(server.bound.map((one) => one.split(' ')[0])).toEqual(['unary', 'unary', 'server_streaming']);
});

test('a handler is made once for each method, for a bounded number of methods', async () => {
  await using server = await startPassing();
  const post = (path: string) =>
    fetch(server.url + path, { method: 'POST', headers: { to: 'mill', 'content-type': 'application/proto' } });
  for (let at = 0; at < 1_001; at++) await post(`/acme.v1.Thing/Say${at % 1_001}`);
  expect(server.bound).toHaveLength(1_001);
  await post('/acme.v1.Thing/Say1000');
  expect(server.bound).toHaveLength(1_001);
  await post('/acme.v1.Thing/Say0');
  expect(server.bound).toHaveLength(1_002);
});
