import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { silentLog } from '@platform/base';
import { DoCommandResponseSchema } from '@platform/proto/platform/common/v1/common';
import { BoardService } from '@platform/proto/platform/component/board/v1/board';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { connect, encodedCall, type Link, maxAnswerElements } from '@platform/rpc/client';
import { createRpcServer, type ServiceBinding, serve } from '@platform/rpc/server';
import { expect, test } from 'vitest';
import { createProxy } from './proxy.ts';
import type { ResourceDescriptor } from './resource-descriptor.ts';
import { sensor } from './sensor.ts';
import { serveType } from './serve-type.ts';
import { board } from './types.ts';

async function portOf(binding: ServiceBinding<string>, stack: AsyncDisposableStack): Promise<string> {
  const server = createRpcServer<string>({
    services: [binding],
    authenticate: async () => '',
    open: [],
    fallback: (_request, response) => void response.end(),
    log: silentLog,
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  stack.defer(() => server.close({ graceMs: 0 }));
  return `http://127.0.0.1:${port}`;
}

/** A server that passes the calls of a type on to the server of `binding`, as a machine-server does to a module. */
async function passOn(type: ResourceDescriptor, binding: ServiceBinding<string>, stack: AsyncDisposableStack) {
  const module = stack.use(connect({ baseUrl: await portOf(binding, stack), maxElements: maxAnswerElements }));
  const { forward } = createProxy(type, module, 'far');
  const passing = serveType<undefined>(type, (_name, { localName }) => ({
    answer: (request, { signal }) => forward[localName]?.(request, { signal, timeoutMs: 0 }),
    [Symbol.dispose]: () => {},
  }));
  const baseUrl = await portOf(passing as ServiceBinding<unknown> as ServiceBinding<string>, stack);
  const inJson = async (path: string, contentType: string, body: string): Promise<string> => {
    const answer = await fetch(`${baseUrl}${path}`, { method: 'POST', headers: { 'content-type': contentType }, body });
    return await answer.text();
  };
  return { link: stack.use(connect({ baseUrl })) as Link, inJson };
}

const numbers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, n]));

test('D48 an answer of any number of elements passes a proxy byte for byte; for a caller in JSON, its elements are counted', async () => {
  let answer = create(DoCommandResponseSchema, { result: { few: [1, null] } });
  const binding = serve<typeof SensorService, string>(SensorService, { doCommand: () => answer });
  await using stack = new AsyncDisposableStack();
  const { link, inJson } = await passOn(sensor as ResourceDescriptor, binding, stack);
  const encoded = encodedCall(link, SensorService.method.doCommand);
  const inJsonNow = async (): Promise<unknown> =>
    JSON.parse(await inJson('/platform.component.sensor.v1.SensorService/DoCommand', 'application/json', '{}'));
  expect(await link.client(SensorService).doCommand({})).toMatchObject({ result: { few: [1, null] } });
  expect(await inJsonNow()).toEqual({ result: { few: [1, null] } });

  answer = create(DoCommandResponseSchema);
  expect(await encoded({})).toHaveLength(0);
  expect(await inJsonNow()).toEqual({});

  answer = create(DoCommandResponseSchema, { result: numbers(maxAnswerElements) });
  // What a newer module knows, before the fields that are known.
  answer.$unknown = [{ no: 77, wireType: 2, data: new Uint8Array([2, 104, 105]) }];
  const bytes = toBinary(DoCommandResponseSchema, answer);
  expect(Buffer.compare(await encoded({}), bytes)).toBe(0);
  expect(Object.keys(fromBinary(DoCommandResponseSchema, await encoded({})).result ?? {})).toHaveLength(
    maxAnswerElements,
  );
  expect(await inJsonNow()).toMatchObject({
    code: 'resource_exhausted',
    message: expect.stringMatching(
      /^\/platform\.component\.sensor\.v1\.SensorService\/DoCommand: the answer in JSON: expected at most 100000 fields and elements/,
    ),
  });
});

test('the messages of a stream pass a proxy, in binary and in JSON', async () => {
  const binding = serve<typeof BoardService, string>(BoardService, {
    async *streamTicks() {
      for (const time of [0n, 1n, 2n]) yield { time, high: time === 1n };
    },
  });
  await using stack = new AsyncDisposableStack();
  const { link, inJson } = await passOn(board as ResourceDescriptor, binding, stack);
  const ticks = [];
  for await (const { time, high } of link.client(BoardService).streamTicks({ name: 'b' })) ticks.push([time, high]);
  expect(ticks).toEqual([
    [0n, false],
    [1n, true],
    [2n, false],
  ]);
  const path = '/platform.component.board.v1.BoardService/StreamTicks';
  const streamed = await inJson(path, 'application/connect+json', '\0\0\0\0\u0002{}');
  expect(streamed.match(/\{[^}]*\}/g)).toEqual(['{}', '{"time":"1","high":true}', '{"time":"2"}', '{}']);
});
