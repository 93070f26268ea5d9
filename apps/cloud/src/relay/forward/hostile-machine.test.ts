/** A machine that answers nonsense to calls that the cloud forwards unread. */
import { createServer, type ServerHttp2Stream } from 'node:http2';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { EmptySchema } from '@bufbuild/protobuf/wkt';
import { PlatformError } from '@platform/base';
import { Health } from '@platform/proto/grpc/health/v1/health';
import { ServerReflectionResponseSchema } from '@platform/proto/grpc/reflection/v1/reflection';
import { byteStreamOver } from '@platform/rpc/client';
import { FakeClock } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { callOf } from '../../access/testing/call-of.ts';
import { createCallLimit } from '../call-limit.ts';
import { createPassedBytes } from '../count-passed.ts';
import { createLinks } from '../links.ts';
import { byHeader } from '../testing/by-header.ts';
import { forwardTypes } from './relayed-types.ts';

const reflection = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
const head = { ':status': 200, 'content-type': 'application/grpc+proto' };

/** A call to the machine whose answers, or error, are returned. */
function openMachine(act: (stream: ServerHttp2Stream) => void): (path: string) => Promise<unknown> {
  const feed = Promise.withResolvers<AsyncIterable<Uint8Array>>();
  async function* later(): AsyncGenerator<Uint8Array, void> {
    yield* await feed.promise;
  }
  const clock = new FakeClock();
  const link = createLinks(clock).open('part', later());
  const machine = byteStreamOver(link.outgoing);
  feed.resolve(machine.outgoing);
  machine.duplex.on('error', () => {});
  const server = createServer().on('stream', (stream) => act(stream.on('error', () => {})));
  server.emit('connection', machine.duplex);
  onTestFinished(() => link.end(new PlatformError('unavailable', 'the test is over')));
  const forwardCalls = forwardTypes(
    {
      ...{ links: { of: () => link, lostMs: () => undefined, open: () => link }, limit: createCallLimit(), clock },
      passed: createPassedBytes(() => {}),
      access: { authorize: () => ({ organizationId: 'acme' }) as never },
      actuations: { record: async () => {}, [Symbol.asyncDispose]: async () => {} },
      recheck: async ({ principal }) => principal,
      ...byHeader,
      presence: { of: () => ({}) as never },
      reports: () => true,
    },
    (binding) => binding,
  );
  return async (path) => {
    const [bound] = forwardCalls.bind(path, 'bidi_streaming')?.methods ?? [];
    if (bound?.kind !== 'bidi_streaming') throw new Error(`${path} is not forwarded`);
    async function* requests() {
      yield create(EmptySchema);
    }
    const answers: Uint8Array[] = [];
    try {
      const call = callOf({ kind: 'part', partId: 'part' }, { 'platform-part': 'part' });
      for await (const answer of bound.handler(requests(), call))
        answers.push(toBinary(EmptySchema, create(EmptySchema, answer)));
      return answers;
    } catch (caught) {
      return caught;
    }
  };
}

/** Sends the messages, each preceded by its length. */
function answerWith(stream: ServerHttp2Stream, bytes: Uint8Array): void {
  stream.respond(head, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(bytes);
}

const envelope = (message: Uint8Array): Uint8Array => {
  const length = Buffer.alloc(5);
  length.writeUInt32BE(message.length, 1);
  return Buffer.concat([length, message]);
};

test.each<[string, (stream: ServerHttp2Stream) => void]>([
  ['bytes that are not a message', (stream) => answerWith(stream, envelope(new Uint8Array([255, 255, 255, 255])))],
  ['groups without end', (stream) => answerWith(stream, envelope(new Uint8Array(200_000).fill(0x0b)))],
  ['a length of 4 GiB', (stream) => answerWith(stream, new Uint8Array([0, 255, 255, 255, 255, 1]))],
  ['half a message', (stream) => answerWith(stream, envelope(new Uint8Array(9)).subarray(0, 8))],
  ['a page', (stream) => stream.respond({ ':status': 500, 'content-type': 'text/html' }, { endStream: true })],
  ['a reset', (stream) => stream.close(2)],
])('R21 %s from a machine is an error of the call alone, and no fault of the cloud', async (_what, nonsense) => {
  let isHonest = false;
  const call = openMachine((stream) =>
    isHonest ? answerWith(stream, envelope(new Uint8Array([8, 1]))) : nonsense(stream),
  );
  for (const path of [reflection, '/acme.v1.Thing/Do']) {
    const refused = await call(path);
    expect(refused).toBeInstanceOf(PlatformError);
    expect(refused).toMatchObject({ isOwnFault: false });
  }
  isHonest = true;
  expect(await call('/acme.v1.Thing/Do')).toEqual([new Uint8Array([8, 1])]);
});

test('a machine that answers its first call with HTTP/1.1 loses that call and its link, and nobody else anything', async () => {
  const links = createLinks(new FakeClock());
  const feed = Promise.withResolvers<AsyncIterable<Uint8Array>>();
  async function* garbage() {
    yield new Uint8Array();
    yield Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n');
    yield* await feed.promise;
  }
  const { link, ended } = links.open('part', garbage());
  await expect(link.client(Health).check({})).rejects.toMatchObject({ code: 'unavailable' });
  await expect.poll(() => ended.aborted).toBe(true);
  expect(links.of('part')).toBeUndefined();
  await expect(link.client(Health).check({})).rejects.toMatchObject({ code: 'unavailable' });
});

test('R21 descriptors are forwarded unchanged, whatever they contain', async () => {
  const fileDescriptorProto = [new Uint8Array([255, 0, 1]), new Uint8Array(100_000).fill(0x0a)];
  const answer = toBinary(
    ServerReflectionResponseSchema,
    create(ServerReflectionResponseSchema, {
      messageResponse: { case: 'fileDescriptorResponse', value: { fileDescriptorProto } },
    }),
  );
  const call = openMachine((stream) => answerWith(stream, envelope(answer)));
  const [passed] = (await call(reflection)) as [Uint8Array];
  expect(fromBinary(ServerReflectionResponseSchema, passed).messageResponse.value).toMatchObject({
    fileDescriptorProto,
  });
});
