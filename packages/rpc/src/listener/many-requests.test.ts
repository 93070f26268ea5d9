/** Connections that send more requests at once than any client needs. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { silentLog } from '@platform/base';
import { hostileClients, sendAsClient } from '@platform/testkit';
import { expect, test } from 'vitest';
import { EchoService } from '../../test/echo-service.ts';
import { serve } from '../core/binding.ts';
import { requestsInOneTurn } from '../core/enter-in-turns.ts';
import { connect as connectLink } from '../link/connect.ts';
import { maxConcurrentStreams, maxPipelined, maxResets } from './limits.ts';
import { createRpcServer } from './rpc-server.ts';

const source = hostileClients('/platform.test.v1.EchoService/Say');
const kindOf = (name: string): number => {
  const kinds = Array.from({ length: source.known }, (_, kind) => source.kind(kind).name);
  return kinds.indexOf(name);
};

/** Counts the requests that enter: in all, and at most in one turn of the event loop. */
async function startCounting() {
  const counts = { all: 0, inOneTurn: 0 };
  let inThisTurn = 0;
  let isOver = false;
  const enter = (): void => {
    counts.all++;
    counts.inOneTurn = Math.max(counts.inOneTurn, ++inThisTurn);
  };
  const nextTurn = (): void => {
    inThisTurn = 0;
    if (!isOver) setImmediate(nextTurn);
  };
  nextTurn();
  const server = createRpcServer({
    services: [serve<typeof EchoService, string>(EchoService, { say: ({ value }) => ({ value }) })],
    open: [],
    async authenticate() {
      enter();
      return 'caller';
    },
    fallback(_request, response) {
      enter();
      response.statusCode = 404;
      (response as import('node:http').ServerResponse).end();
    },
    log: silentLog,
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    counts,
    port,
    async [Symbol.asyncDispose]() {
      isOver = true;
      await server.close({ graceMs: 0 });
    },
  };
}

/** Resolves once the server has closed the connection. */
async function send(port: number, kind: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  const closed = once(socket, 'close');
  await sendAsClient(socket, { ...source.kind(kind), end: 'stay' });
  await closed;
}

const most: Readonly<Record<string, number>> = {
  'a thousand requests that are reset': maxResets,
  'two thousand requests at once': 2 * maxConcurrentStreams,
  'two thousand requests without end': maxConcurrentStreams,
  'a thousand requests in a row': maxPipelined,
};

test.each(Object.entries(most))(
  'a connection that sends %s is closed after %d of them, and few enter in one turn, however many connections send',
  async (name, each) => {
    await using server = await startCounting();
    await Promise.all(Array.from({ length: 8 }, () => send(server.port, kindOf(name))));
    expect(server.counts.all).toBeLessThanOrEqual(8 * each);
    // A turn of this count may contain parts of two turns of the server.
    expect(server.counts.inOneTurn).toBeLessThanOrEqual(2 * requestsInOneTurn);
  },
);

test('a client with more calls at once than may run is answered for each, in turns', async () => {
  await using server = await startCounting();
  await using link = connectLink({ baseUrl: `http://127.0.0.1:${server.port}` });
  const client = link.client(EchoService);
  const values = Array.from({ length: 3 * maxConcurrentStreams }, (_, at) => `${at}`);
  const answers = await Promise.all(values.map((value) => client.say({ value })));
  expect(answers.map(({ value }) => value)).toEqual(values);
  expect(server.counts.inOneTurn).toBeLessThanOrEqual(2 * requestsInOneTurn);
});

test('as many requests over HTTP/1.1 as may wait are answered, in one packet and in several', async () => {
  await using server = await startCounting();
  const socket = connect(server.port, '127.0.0.1');
  let read = '';
  socket.on('data', (bytes) => {
    read += bytes;
  });
  const request = `GET /nothing HTTP/1.1\r\nhost: x\r\nx-padding: ${'x'.repeat(5_000)}\r\n\r\n`;
  for (let packet = 1; packet <= 2; packet++) {
    socket.write(request.repeat(maxPipelined));
    await expect.poll(() => read.split('404 Not Found').length - 1).toBe(packet * maxPipelined);
  }
  socket.destroy();
});
