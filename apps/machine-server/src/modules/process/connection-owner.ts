/**
 * Whether a TCP connection to this process comes from a module (D52). Linux lists for each connection the socket at its other end, and for
 * each process its sockets.
 */
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { errorText } from '@platform/base';
import { familyHolds, holds } from './process-family.ts';
import type { ProcessStart } from './read-process.ts';
import { findTcpSocket, type TcpSocket } from './tcp-sockets.ts';

export interface ConnectionOwners {
  /**
   * Why a connection is not the module's: `it belongs to a process of user 1000`; undefined if it is.
   *
   * @param leader the process of the module that was started
   */
  strangerOf(socket: Socket, leader: ProcessStart): Promise<string | undefined>;
  /** Why this system does not tell whose connection it is; undefined if it does. */
  whyUntold(leader: ProcessStart): Promise<string | undefined>;
}

export const connectionOwners: ConnectionOwners = {
  async strangerOf(socket, leader) {
    const gone = 'its client has left';
    const client = await clientOf(socket);
    if (client === undefined || client.inode === '') return gone;
    if (!(await familyHolds(client.inode, leader))) return `it belongs to a process of user ${client.uid}`;
    // A later connection with the same two ports would be another client's.
    return isConnected(socket) ? undefined : gone;
  },
  async whyUntold(leader) {
    if (process.platform !== 'linux') return `this system is ${process.platform}`;
    try {
      await readdir(`/proc/${leader.pid}/fd`);
      return (await findsItself()) ? undefined : '/proc/net/tcp does not list the connections of this process';
    } catch (caught) {
      return errorText(caught);
    }
  },
};

/** Whether this process is found at the other end of a connection to itself. */
async function findsItself(): Promise<boolean> {
  const server = createServer({ pauseOnConnect: true });
  let client: Socket | undefined;
  try {
    server.listen({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const address = server.address();
    client = connect({ host: '127.0.0.1', port: typeof address === 'object' ? (address?.port ?? 0) : 0 });
    client.on('error', () => {});
    const [socket] = await accepted;
    try {
      const own = await clientOf(socket);
      return own !== undefined && (await holds('self', `socket:[${own.inode}]`));
    } finally {
      socket.destroy();
    }
  } finally {
    client?.destroy();
    server.close();
  }
}

/** The socket at the other end. */
async function clientOf(socket: Socket): Promise<TcpSocket | undefined> {
  const { remoteAddress, remotePort, localAddress, localPort } = socket;
  if (remoteAddress === undefined || localAddress === undefined) return undefined;
  const client = { address: remoteAddress, port: remotePort ?? 0 };
  return findTcpSocket(client, { address: localAddress, port: localPort ?? 0 });
}

/** Node has no public call that asks the system; `remotePort` is what was true once. */
function isConnected(socket: Socket): boolean {
  const { _handle: handle } = socket as { _handle?: { getpeername?: (into: object) => number } | null };
  return handle?.getpeername?.({}) === 0;
}
