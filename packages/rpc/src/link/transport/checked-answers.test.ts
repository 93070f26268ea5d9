import { create } from '@bufbuild/protobuf';
import { StringValueSchema } from '@bufbuild/protobuf/wkt';
import { PlatformError } from '@platform/base';
import { expect, onTestFinished, test, vi } from 'vitest';
import { EchoService } from '../../../test/echo-service.ts';
import { startScriptedPeer } from '../../../test/scripted-peer.ts';
import { credentials, startEcho } from '../../../test/start-echo.ts';
import { connect } from '../connect.ts';

/** A message with that many unknown fields. */
const flood = (count: number) => ({
  ...create(StringValueSchema),
  $unknown: Array.from({ length: count }, () => ({ no: 15, wireType: 0, data: Uint8Array.of(1) })),
});

test('D48 an answer with too many fields is refused before it is decoded, in a unary call and in a stream', async () => {
  await using server = await startEcho({
    say: ({ value }) => flood(Number(value)),
    async *split({ value }) {
      yield { value: 'first' };
      yield flood(Number(value));
    },
  });
  await using link = connect({ baseUrl: server.url, credentials, maxElements: 1_000 });
  const client = link.client(EchoService);
  const refusal = (method: string) => ({
    code: 'resource_exhausted',
    message: `/platform.test.v1.EchoService/${method}: expected at most 1000 fields and elements in a message, found more in "unknown field 15": use smaller messages`,
  });
  const split = async (value: string): Promise<number> => {
    const answers: unknown[] = [];
    for await (const answer of client.split({ value })) answers.push(answer);
    return answers.length;
  };

  expect(await client.say({ value: '1000' })).toMatchObject({ value: '' });
  await expect(client.say({ value: '1001' })).rejects.toMatchObject(refusal('Say'));
  expect(await split('1000')).toBe(2);
  await expect(split('1001')).rejects.toMatchObject(refusal('Split'));
});

test('D48 a long stream of small answers leaves turns of the event loop to others', async () => {
  let turns = 0;
  await using server = await startEcho({
    async *split() {
      for (let index = 0; index < 5_000; index++) yield { value: '' };
    },
  });
  await using link = connect({ baseUrl: server.url, credentials });
  let answers = 0;
  let isOver = false;
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  for await (const _ of link.client(EchoService).split({ value: '' })) {
    if (answers === 0) turn();
    answers += 1;
  }
  isOver = true;

  expect(answers).toBe(5_000);
  expect(turns).toBeGreaterThan(5_000 / 100);
});

test.each([
  ['states its length in pieces', 1_048_576],
  ['states that it is empty', 0],
])('D48 an answer that %s, and goes on in a thousand pieces, is not copied again with each', async (_how, stated) => {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(stated, 1);
  await using peer = await startScriptedPeer({
    async answer(stream) {
      stream.resume();
      stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      const pieces = [
        prefix.subarray(0, 1),
        prefix.subarray(1),
        ...Array.from({ length: 1_024 }, () => Buffer.alloc(1_024)),
      ];
      for (const piece of pieces) await new Promise((resolve) => stream.write(piece, resolve));
      stream.end();
    },
  });
  await using link = connect({ baseUrl: peer.url });
  const concat = vi.spyOn(Buffer, 'concat');
  onTestFinished(() => concat.mockRestore());
  await expect(link.client(EchoService).say({})).rejects.toBeInstanceOf(PlatformError);
  const copied = concat.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0);
  expect(copied).toBeLessThan(4 * 1_048_576);
});
