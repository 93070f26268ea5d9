/** A TCP proxy that breaks connections on purpose, to simulate lost acknowledgements and slow, dead and half-closed peers. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

export type Fault =
  /** Passes everything. */
  | { readonly kind: 'none' }
  /** Resets both sides once this many response bytes have passed: 0 loses the whole answer. */
  | { readonly kind: 'cutResponse'; readonly afterBytes: number }
  /** Resets new connections at once. */
  | { readonly kind: 'refuse' }
  /** Delays the bytes of both directions, in order. */
  | { readonly kind: 'delay'; readonly delayMs: number }
  /** Closes the response direction properly after this many bytes; the request direction stays open. */
  | { readonly kind: 'halfClose'; readonly afterBytes: number }
  /** Drops bytes in both directions; connections stay open. */
  | { readonly kind: 'blackhole' };

export interface FaultProxy extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** Applies to all data from now on, also on open connections; byte counts start at zero. */
  setFault(fault: Fault): void;
  /** Resets every open connection. */
  dropAll(): void;
  /** Connections accepted since the start. */
  readonly connections: number;
  /** Response bytes that arrived from the target since the last setFault, whether passed on or not. */
  readonly responseBytes: number;
}

interface Pair {
  readonly client: Socket;
  readonly target: Socket;
  /** Bytes passed to the client under the current fault. */
  passed: number;
}

export async function createFaultProxy(target: { readonly host: string; readonly port: number }): Promise<FaultProxy> {
  const pairs = new Set<Pair>();
  let fault: Fault = { kind: 'none' };
  let connections = 0;
  let responseBytes = 0;

  const drop = (pair: Pair): void => {
    pair.client.resetAndDestroy();
    pair.target.resetAndDestroy();
    pairs.delete(pair);
  };
  const later = (socket: Socket, act: () => void): void => {
    if (fault.kind !== 'delay') act();
    else {
      setTimeout(() => {
        if (!socket.destroyed) act();
      }, fault.delayMs);
    }
  };
  const respond = (pair: Pair, chunk: Buffer): void => {
    responseBytes += chunk.length;
    if (fault.kind === 'blackhole') return;
    if (fault.kind === 'cutResponse' || fault.kind === 'halfClose') {
      const left = Math.max(0, fault.afterBytes - pair.passed);
      const { kind } = fault;
      const passing = chunk.subarray(0, left);
      pair.passed += passing.length;
      if (passing.length > 0) pair.client.write(passing);
      if (pair.passed < fault.afterBytes) return;
      if (kind === 'halfClose') pair.client.end();
      // Data written earlier must be sent first: end the connection, then reset it.
      else if (passing.length > 0) setImmediate(() => drop(pair));
      else drop(pair);
      return;
    }
    pair.passed += chunk.length;
    later(pair.client, () => pair.client.write(chunk));
  };

  const server = createServer({ allowHalfOpen: true }, (client) => {
    connections++;
    if (fault.kind === 'refuse') {
      client.resetAndDestroy();
      return;
    }
    const pair: Pair = { client, target: connect({ ...target, allowHalfOpen: true }), passed: 0 };
    pairs.add(pair);
    client.on('data', (chunk) => {
      if (fault.kind !== 'blackhole') later(pair.target, () => pair.target.write(chunk));
    });
    pair.target.on('data', (chunk) => respond(pair, chunk));
    client.on('end', () => later(pair.target, () => pair.target.end()));
    pair.target.on('end', () => later(client, () => client.end()));
    for (const socket of [client, pair.target]) {
      socket.on('error', () => drop(pair));
      socket.on('close', () => {
        if (client.destroyed && pair.target.destroyed) pairs.delete(pair);
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    host: '127.0.0.1',
    port,
    get connections() {
      return connections;
    },
    get responseBytes() {
      return responseBytes;
    },
    setFault(next) {
      fault = next;
      responseBytes = 0;
      for (const pair of pairs) pair.passed = 0;
    },
    dropAll() {
      for (const pair of [...pairs]) drop(pair);
    },
    async [Symbol.asyncDispose]() {
      for (const pair of [...pairs]) drop(pair);
      server.close();
      await once(server, 'close');
    },
  };
}
