/** `platform machines part tunnel`: a port of this computer that leads to a port of a machine, through the cloud. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { failedPrecondition, invalidArgument, unavailable } from '@platform/base/refusals';
import { asPlatformError, type CodeName } from '@platform/sdk/cloud';
import { type Machine, openTunnel } from '@platform/sdk/machine';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { partArgument } from '../config/configuration.ts';

/** Errors of one connection that every other one would have, too. */
const lasting: ReadonlySet<CodeName> = new Set(['unauthenticated', 'permission_denied', 'failed_precondition']);

export function tunnelCommand(): Command {
  return defineCommand(
    new Command('tunnel')
      .description(
        'open a port on this computer that leads to a port of a machine through the cloud, until Ctrl-C. The port must be in network.traffic_tunnel_endpoints of the machine’s configuration; only owners may tunnel',
      )
      .argument(...partArgument)
      .requiredOption('--port <port>', 'the port on the machine: of a program that listens on its loopback address')
      .option(
        '--local <address>',
        'port, or address:port, to listen on at this computer (default: 127.0.0.1 and the same port, or a free one if it is in use)',
      ),
    {
      examples: [
        'platform machines part tunnel press-7 --port 5900',
        'platform machines part tunnel press-7 --port 22 --local 2222',
      ],
      fields: ['address', 'port'],
    },
    async ({ cloud, out, find, signal }, flags, text = '') => {
      const port = portOf(flags['port'], '--port');
      const local = localOf(flags['local'], port);
      const { id } = await find.part(text);
      using machine = (await cloud()).machine(id, { session: false });
      await requireListed(machine, port);
      const failed = Promise.withResolvers<never>();
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        forward(socket, machine, port, signal).catch((caught: unknown) => {
          if (signal.aborted) return;
          const error = asPlatformError(caught);
          if (lasting.has(error.code)) failed.reject(error);
          else out.warn(`connection from ${from}: ${error.message}`);
        });
        const from = `${socket.remoteAddress}:${socket.remotePort}`;
      });
      const sockets = new Set<Socket>();
      server.on('connection', (socket) => sockets.add(socket.on('close', () => sockets.delete(socket))));
      try {
        const address = await listen(server, local);
        out.element({ address, port }, `${address} leads to port ${port} of ${text}; Ctrl-C ends it`);
        signal.throwIfAborted();
        await Promise.race([failed.promise, once(signal, 'abort')]);
        signal.throwIfAborted();
      } finally {
        server.close();
        for (const socket of sockets) socket.destroy();
      }
    },
  );
}

interface Local {
  readonly host: string;
  readonly port: number;
  /** Whether another port does as well. */
  readonly isFree: boolean;
}

function portOf(value: unknown, what: string, least = 1): number {
  const port = /^\d{1,5}$/.test(String(value)) ? Number(value) : -1;
  if (port >= least && port <= 65_535) return port;
  throw invalidArgument(`${what}: expected a port from ${least} to 65535, found "${String(value)}"`);
}

function localOf(value: unknown, port: number): Local {
  if (value === undefined) return { host: '127.0.0.1', port, isFree: true };
  const [, host = '127.0.0.1', digits = ''] = /^(?:(.+):)?(\d+)$/.exec(String(value)) ?? [];
  if (digits === '') throw invalidArgument(`--local: expected PORT or ADDRESS:PORT, found "${String(value)}"`);
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: portOf(digits, '--local', 0), isFree: false };
}

/** Before anything connects. Machine-servers without the list decide at the first connection. @throws failed_precondition */
async function requireListed(machine: Machine, port: number): Promise<void> {
  const listed = await machine.robot.listTunnels({}).catch((caught: unknown) => {
    if (asPlatformError(caught).code === 'unimplemented') return undefined;
    throw caught;
  });
  if (listed === undefined || listed.tunnels.some((one) => one.port === port)) return;
  const found = listed.tunnels.map((one) => one.port).join(', ') || 'none';
  throw failedPrecondition(
    `--port: expected a port in network.traffic_tunnel_endpoints of the machine's configuration, which has ${found}; found ${port}. Add {"port": ${port}} there with "platform config edit"`,
  );
}

/** @returns the address. @throws unavailable if it cannot be used */
async function listen(server: Server, { host, port, isFree }: Local): Promise<string> {
  try {
    server.listen({ host, port });
    await once(server, 'listening');
  } catch (caught) {
    const { code } = caught as NodeJS.ErrnoException;
    if (isFree && (code === 'EADDRINUSE' || code === 'EACCES'))
      return await listen(server, { host, port: 0, isFree: false });
    throw unavailable(
      `--local: expected an address on which this computer can listen, found ${host}:${port} (${code}); choose another one`,
      caught,
    );
  }
  const { address, family, port: own } = server.address() as AddressInfo;
  return family === 'IPv6' ? `[${address}]:${own}` : `${address}:${own}`;
}

/** Carries one connection. What the local program breaks is no error. @throws the error of the machine */
async function forward(socket: Socket, machine: Machine, port: number, signal: AbortSignal): Promise<void> {
  const gone = new AbortController();
  socket.setNoDelay(true);
  socket.on('error', () => gone.abort());
  const tunnel = openTunnel(machine, port, { signal: AbortSignal.any([signal, gone.signal]) });
  try {
    await Promise.all([up(socket, tunnel.writable), down(tunnel.readable, socket), tunnel.closed]);
  } catch (caught) {
    socket.resetAndDestroy();
    if (!gone.signal.aborted)
      throw await tunnel.closed.then(
        () => caught,
        (why: unknown) => why,
      );
  } finally {
    gone.abort();
  }
}

async function up(socket: Socket, writable: WritableStream<Uint8Array>): Promise<void> {
  const writer = writable.getWriter();
  for await (const data of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>)
    await writer.write(data);
  await writer.close();
}

async function down(readable: ReadableStream<Uint8Array>, socket: Socket): Promise<void> {
  for await (const data of readable) {
    if (socket.write(data)) continue;
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.once('drain', resolve).once('close', resolve);
    await promise;
    socket.off('drain', resolve).off('close', resolve);
  }
  socket.end();
}
