/** Starts to listen; the error for a failure says what to do. */
import type { AddressInfo, Server } from 'node:net';
import { failedPrecondition, invalidArgument, PlatformError, permissionDenied } from '@platform/base';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** @param address port 0 picks a free one. @returns where the server listens. */
export function listen(server: Server, { host, port }: Address): Promise<Address> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(explain(error, host, port));
    server.once('error', onError);
    server.listen({ host, port }, () => {
      server.off('error', onError);
      const bound = server.address() as AddressInfo;
      resolve({ host: bound.address, port: bound.port });
    });
  });
}

function explain(error: NodeJS.ErrnoException, host: string, port: number): PlatformError {
  switch (error.code) {
    case 'EADDRINUSE':
      return failedPrecondition(
        `port ${port} on ${host} is in use by another program: stop that program, or choose another port`,
        error,
      );
    case 'EACCES':
      return permissionDenied(
        `this user is not allowed to listen on port ${port} of ${host}: choose a port above 1023`,
        error,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return invalidArgument(`expected an address of this computer to listen on, found ${host}`, error);
    default:
      return new PlatformError('internal', `cannot listen on port ${port} of ${host}: ${error.message}`, error);
  }
}

/** Starts to listen on a Unix socket. @throws PlatformError that names the path */
export function listenOnSocket(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void =>
      reject(new PlatformError('internal', `cannot listen on the socket ${path}: ${error.message}`, error));
    server.once('error', onError);
    server.listen({ path }, () => {
      server.off('error', onError);
      resolve();
    });
  });
}
