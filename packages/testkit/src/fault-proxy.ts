/** A TCP proxy that breaks connections on purpose: lost acknowledgements, slow, dead and half-closed peers. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

export type Fault =
  /** Everything passes. */
  | { readonly kind: 'none' }
  /** Both sides are reset once this many bytes of the response direction have passed: 0 loses the whole answer. */
  | { readonly kind: 'cutResponse'; readonly afterBytes: number }
  /** New connections are reset at once. */
  | { readonly kind: 'refuse' }
  /** Bytes of both directions come this much later, in order. */
  | { readonly kind: 'delay'; readonly delayMs: number }
  /** The response direction is closed properly after this many bytes, the request direction stays open. */
  | { readonly kind: 'halfClose'; readonly afterBytes: number }
  /** Bytes vanish in both directions; connections stay open. */
  | { readonly kind: 'blackhole' };

export interface FaultProxy extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** Holds for what flows from now on, also on open connections; byte counts start at zero. */
  setFault(fault: Fault): void;
  /** Resets every open connection. */
  dropAll(): void;
  /** Accepted since the start. */
  readonly connections: number;
  /** Bytes of the response direction that arrived from the target since the last setFault, passed on or not. */
  readonly responseBytes: number;
}

interface Pair {
  readonly client: Socket;
  readonly target: Socket;
  /** Passed to the client under the present fault. */
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
      // What was written before goes out first: end it, then reset.
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
