import { once } from 'node:events';
import { type Socket, connect as tcp } from 'node:net';
import { silentLog } from '@platform/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EchoService } from '../../test/echo-service.ts';
import { credentials, patientClock, startEcho } from '../../test/start-echo.ts';
import { connect } from '../link/connect.ts';
import { createRpcServer } from './rpc-server.ts';

async function dial(port: number): Promise<Socket> {
  const socket = tcp(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

async function textOf(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket.setEncoding('utf8')) text += chunk;
  return text;
}

describe('D3 telling protocols apart', () => {
  test('D3 a request that arrives byte by byte is read as HTTP/1.1, even if it begins like HTTP/2', async () => {
    await using server = await startEcho();
    for (const verb of ['GET', 'PUT', 'PRI']) {
      const socket = await dial(server.port);
      for (const byte of `${verb} /here HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`) socket.write(byte);
      const answer = await textOf(socket);
      // Node's parser refuses the verb PRI; what matters is that HTTP/1.1 answered.
      expect(answer).toMatch(verb === 'PRI' ? /^HTTP\/1\.1 400/ : /^HTTP\/1\.1 404(.|\r\n)*nothing at \/here/);
    }
  });

  test('D3 a client that ends its side after an HTTP/1.1 request still gets the answer', async () => {
    await using server = await startEcho();
    const socket = await dial(server.port);
    socket.end('GET /half HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    expect(await textOf(socket)).toContain('nothing at /half');
  });

  test('a request without a host, and one with headers over the limit, are refused without harm', async () => {
    await using server = await startEcho();
    const bare = await dial(server.port);
    bare.end(
      'POST /platform.test.v1.EchoService/Say HTTP/1.0\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n""',
    );
    expect(await textOf(bare)).toContain(' 400 ');
    const large = await fetch(`${server.url}/`, { headers: { large: 'x'.repeat(80_000) } });
    expect(large.status).toBe(431);
  });
});

describe('hostile clients', () => {
  test('no bytes from an unknown client, however they end, stop the server from serving', async () => {
    await using server = await startEcho();
    const openings = [
      '',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'POST /platform.test.v1.EchoService/Say HTTP/1.1\r\nhost: x\r\ncontent-type: application/grpc-web\r\nauthorization: Bearer token-1\r\ntransfer-encoding: chunked\r\n\r\n',
    ];
    const noise = fc.record({
      opening: fc.constantFrom(...openings),
      bytes: fc.uint8Array({ maxLength: 200 }),
      reset: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(noise, async ({ opening, bytes, reset }) => {
        const socket = await dial(server.port);
        socket.write(opening);
        socket.write(bytes);
        if (reset) socket.resetAndDestroy();
        else socket.end();
        expect((await fetch(`${server.url}/`)).status).toBe(404);
        socket.destroy();
      }),
      { numRuns: 60 },
    );
    expect(server.logged.filter((line) => line.startsWith('error'))).toEqual([]);
  });
});

describe('starting', () => {
  test('a port in use gives an error with the port and what to do', async () => {
    await using server = await startEcho();
    await expect(startEcho({}, { port: server.port })).rejects.toMatchObject({
      code: 'failed_precondition',
      message: `port ${server.port} on 127.0.0.1 is in use by another program: stop that program, or choose another port`,
    });
  });
});

describe('stopping', () => {
  test('running calls finish, new ones are refused, idle connections end', async () => {
    const entered = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const server = await startEcho(
      {
        async say({ value }) {
          if (value !== 'wait') return { value };
          entered.resolve();
          await go.promise;
          return { value: 'finished' };
        },
      },
      { clock: patientClock },
    );
    await using link = connect({ baseUrl: server.url, credentials });
    await using other = connect({ baseUrl: server.url });
    expect((await fetch(`${server.url}/keep-alive`)).status).toBe(404);
    const running = link.client(EchoService).say({ value: 'wait' });
    await entered.promise;
    const closing = server.close();
    await expect(other.client(EchoService).say({ value: 'late' })).rejects.toMatchObject({ code: 'unavailable' });
    await expect(link.client(EchoService).say({ value: 'late' })).rejects.toMatchObject({ code: 'unavailable' });
    go.resolve();
    expect((await running).value).toBe('finished');
    await closing;
  });

  test('calls that outlast the grace period end as UNAVAILABLE, with their signals aborted', async () => {
    const entered = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    const server = await startEcho({
      say(_request, call) {
        entered.resolve();
        call.signal.addEventListener('abort', () => aborted.resolve());
        return new Promise(() => {});
      },
    });
    await using link = connect({ baseUrl: server.url, credentials });
    const running = expect(link.client(EchoService).say({})).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('shutting down'),
    });
    await entered.promise;
    await server.close({ graceMs: 20 });
    await aborted.promise;
    await running;
  });

  test('a server that never listened can also be closed', async () => {
    const never = createRpcServer({
      services: [],
      authenticate: async () => undefined,
      open: [],
      fallback: () => {},
      log: silentLog,
    });
    await never.close();
  });
});
