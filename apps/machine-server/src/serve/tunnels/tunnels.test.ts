import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { create } from '@bufbuild/protobuf';
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { type Clock, createLog, silentLog, systemClock } from '@platform/base';
import { NetworkConfigSchema } from '@platform/proto/platform/app/v1/robot';
import { RobotService, type TunnelResponse } from '@platform/proto/platform/robot/v1/robot';
import { type Client, connect } from '@platform/rpc/client';
import { createRpcServer, serve } from '@platform/rpc/server';
import { freePort } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import type { Principal } from '../authenticate.ts';
import { createTunnels, type Tunnels } from './tunnels.ts';

interface Machine {
  readonly tunnels: Tunnels;
  readonly robot: Client<typeof RobotService>;
  readonly lines: string[];
  /** Sets the ports. */
  listed(...ports: readonly number[]): void;
}

/** A machine's port with tunnels alone. */
async function startMachine(clock: Clock = systemClock): Promise<Machine> {
  const lines: string[] = [];
  const log = createLog((level, _logger, message) => lines.push(`${level} ${message}`));
  const tunnels = createTunnels({ clock, log });
  const server = createRpcServer<Principal>({
    services: [
      serve<typeof RobotService, Principal>(RobotService, {
        tunnel: (requests, call) => tunnels.open(requests, call),
        listTunnels: () => ({ tunnels: tunnels.list() }),
      }),
    ],
    authenticate: async () => ({ entity: 'anna' }),
    open: [],
    fallback: (_request, response) => void response.end(),
    log: silentLog,
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  const link = connect({ baseUrl: `http://127.0.0.1:${port}` });
  onTestFinished(async () => {
    await link[Symbol.asyncDispose]();
    await server.close({ graceMs: 0 });
  });
  return {
    tunnels,
    lines,
    robot: link.client(RobotService),
    listed: (...ports) => tunnels.configure({ network: networkOf(ports.map((each) => ({ port: each }))) }),
  };
}

function networkOf(trafficTunnelEndpoints: readonly { port: number; connectionTimeout?: never }[]) {
  return create(NetworkConfigSchema, { trafficTunnelEndpoints: [...trafficTunnelEndpoints] });
}

/** A program that listens on a port of this computer. */
async function program(onSocket: (socket: Socket) => void, host = '127.0.0.1'): Promise<{ port: number }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket.on('error', () => {}));
    onSocket(socket);
  }).listen(0, host);
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return server.address() as { port: number };
}

const echo = (socket: Socket): void => void socket.pipe(socket);

interface Sent {
  readonly destinationPort?: number;
  readonly data?: Uint8Array;
  readonly halfClose?: boolean;
}

async function* each(...messages: readonly Sent[]): AsyncGenerator<Sent> {
  yield* messages;
}

/** Messages that are sent only once `more` allows. */
async function* after(first: Sent, more: Promise<unknown>): AsyncGenerator<Sent> {
  yield first;
  await more;
}

async function all(answers: AsyncIterable<TunnelResponse>): Promise<{ bytes: Buffer; eofs: number }> {
  const parts: Uint8Array[] = [];
  let eofs = 0;
  for await (const { data, eof } of answers) {
    parts.push(data);
    if (eof) eofs++;
  }
  return { bytes: Buffer.concat(parts), eofs };
}

test('bytes pass in both directions, many at once, until both ends have ended', async () => {
  const { robot, listed, lines } = await startMachine();
  const { port } = await program(echo);
  listed(port);
  const sent = randomBytes(6 * 1024 * 1024);
  async function* requests(): AsyncGenerator<Sent> {
    yield { destinationPort: port, halfClose: true, data: sent.subarray(0, 10) };
    for (let at = 10; at < sent.length; at += 100_000) yield { data: sent.subarray(at, at + 100_000) };
  }
  const { bytes, eofs } = await all(robot.tunnel(requests()));
  expect(bytes.equals(sent)).toBe(true);
  expect(eofs).toBe(1);
  await expect.poll(() => lines).toEqual(['info a tunnel began', 'info a tunnel ended']);
});

test('the program may end its direction first: a caller who understands it goes on, others see the call end', async () => {
  const { robot, listed } = await startMachine();
  const heard = Promise.withResolvers<string>();
  const { port } = await program((socket) => {
    socket.end('bye');
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString())).on('end', () => heard.resolve(text));
  });
  listed(port);
  const seen = Promise.withResolvers<void>();
  async function* requests(): AsyncGenerator<Sent> {
    yield { destinationPort: port, halfClose: true };
    await seen.promise;
    yield { data: Buffer.from('late words') };
  }
  const texts: string[] = [];
  for await (const { data, eof } of robot.tunnel(requests())) {
    if (data.length > 0) texts.push(Buffer.from(data).toString());
    if (eof) seen.resolve();
  }
  expect([texts, await heard.promise]).toEqual([['bye'], 'late words']);

  const never = Promise.withResolvers<void>();
  const { bytes, eofs } = await all(robot.tunnel(after({ destinationPort: port }, never.promise)));
  expect([bytes.toString(), eofs]).toEqual(['bye', 0]);
});

test('only listed ports are reached, and the error names the setting; the list is there for callers', async () => {
  const { robot, listed, tunnels } = await startMachine();
  const { port } = await program(echo);
  await expect(all(robot.tunnel(each({ destinationPort: port })))).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringContaining("network.traffic_tunnel_endpoints of the machine's configuration, it has none"),
  });
  listed(port);
  await expect(all(robot.tunnel(each({ destinationPort: 22 })))).rejects.toThrow(`it has ${port}; add {"port": 22}`);
  await expect(all(robot.tunnel(each()))).rejects.toMatchObject({ code: 'invalid_argument' });
  const network = create(NetworkConfigSchema, {
    trafficTunnelEndpoints: [{ port: 8081 }, { port: 8082, connectionTimeout: durationFromMs(1_500) }],
  });
  tunnels.configure({ network });
  const found = (await robot.listTunnels({})).tunnels;
  expect(found.map((one) => [one.port, one.connectionTimeout?.seconds, one.connectionTimeout?.nanos])).toEqual([
    [8081, 10n, 0],
    [8082, 1n, 500_000_000],
  ]);
});

test('a port on which nothing listens, and a program that breaks the connection, are errors; IPv6 is tried, too', async () => {
  const { robot, listed } = await startMachine();
  const free = await freePort();
  const broken = await program((socket) => socket.once('data', () => socket.resetAndDestroy()));
  listed(free, broken.port);
  const never = new Promise<void>(() => {});
  await expect(all(robot.tunnel(after({ destinationPort: free }, never)))).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('expected a program that listens, found none'),
  });
  await expect(
    all(robot.tunnel(after({ destinationPort: broken.port, data: Buffer.from('x') }, never))),
  ).rejects.toMatchObject({
    code: 'aborted',
    message: expect.stringContaining('the program broke the connection'),
  });
  const six = await program(echo, '::1').catch(() => undefined);
  if (six === undefined) return;
  listed(six.port);
  const { bytes } = await all(robot.tunnel(each({ destinationPort: six.port, data: Buffer.from('six') })));
  expect(bytes.toString()).toBe('six');
});

test('an edit that removes the port ends its tunnels and no others, and the program sees a reset', async () => {
  const { robot, listed } = await startMachine();
  const ends: string[] = [];
  const greet = (name: string) => (socket: Socket) => {
    socket.write('hello');
    socket
      .on('error', () => ends.push(`${name} reset`))
      .on('end', () => ends.push(`${name} end`))
      .resume();
  };
  const [kept, removed] = [await program(greet('kept')), await program(greet('removed'))];
  listed(kept.port, removed.port);
  const stay = Promise.withResolvers<void>();
  const open = async (port: number) => {
    const answers = robot
      .tunnel(after({ destinationPort: port, halfClose: true }, stay.promise))
      [Symbol.asyncIterator]();
    await answers.next();
    return answers;
  };
  const [a, b] = [await open(kept.port), await open(removed.port)];
  listed(kept.port);
  await expect(b.next()).rejects.toThrow(`network.traffic_tunnel_endpoints no longer lists port ${removed.port}`);
  await expect.poll(() => ends).toEqual(['removed reset']);
  stay.resolve();
  await expect.poll(() => ends).toEqual(['removed reset', 'kept end']);
  await a.return?.();
});

test('when the caller leaves, the program sees a reset, not the end of what it was sent', async () => {
  const { robot, listed } = await startMachine();
  const how = Promise.withResolvers<string>();
  const { port } = await program((socket) => {
    socket.write('hello');
    socket
      .on('error', () => how.resolve('reset'))
      .on('end', () => how.resolve('end'))
      .resume();
  });
  listed(port);
  const caller = new AbortController();
  const never = new Promise<void>(() => {});
  const answers = robot.tunnel(after({ destinationPort: port }, never), { signal: caller.signal });
  const reading = (async () => {
    for await (const _ of answers) caller.abort();
  })();
  await expect(reading).rejects.toMatchObject({ code: 'canceled' });
  expect(await how.promise).toBe('reset');
});

test('a program that does not read stops its caller, and a caller who does not read stops the program', async () => {
  const { robot, listed } = await startMachine();
  const deaf = await program((socket) => socket.pause());
  let written = 0;
  const talker = await program((socket) => {
    const more = (): void => {
      while (written < 1024 * 1024 * 1024 && socket.write(Buffer.alloc(65_536))) written += 65_536;
    };
    socket.on('drain', more);
    more();
  });
  listed(deaf.port, talker.port);
  let sent = 0;
  async function* flood(): AsyncGenerator<Sent> {
    yield { destinationPort: deaf.port };
    for (; sent < 1024 * 1024 * 1024; sent += 65_536) yield { data: Buffer.alloc(65_536) };
  }
  const leave = new AbortController();
  const flooding = all(robot.tunnel(flood(), { signal: leave.signal })).catch(() => {});
  const never = new Promise<void>(() => {});
  const unread = robot
    .tunnel(after({ destinationPort: talker.port }, never), { signal: leave.signal })
    [Symbol.asyncIterator]();
  await unread.next();
  // Neither moves any more.
  const still = async (count: () => number): Promise<number> => {
    for (let before = -1; ; ) {
      const now = count();
      if (now === before && now > 0) return now;
      before = now;
      await systemClock.sleep(500);
    }
  };
  const [a, b] = await Promise.all([still(() => sent), still(() => written)]);
  // Windows of HTTP/2 and buffers of sockets, of two connections.
  expect(a).toBeLessThan(64 * 1024 * 1024);
  expect(b).toBeLessThan(64 * 1024 * 1024);
  leave.abort();
  await flooding;
});

test('a connection that takes longer than connection_timeout is an error that names it', async () => {
  const isOver = { [Symbol.dispose]: () => {} };
  const late: Clock = {
    ...systemClock,
    after(ms, run) {
      if (ms === 250) run();
      return isOver;
    },
  };
  const { robot, tunnels } = await startMachine(late);
  const { port } = await program(echo);
  tunnels.configure({
    network: create(NetworkConfigSchema, {
      trafficTunnelEndpoints: [{ port, connectionTimeout: durationFromMs(250) }],
    }),
  });
  await expect(all(robot.tunnel(each({ destinationPort: port })))).rejects.toMatchObject({
    code: 'deadline_exceeded',
    message: expect.stringContaining('within 250 ms (connection_timeout)'),
  });
});
