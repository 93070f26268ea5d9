import type { Socket } from 'node:net';
import { type AcceptOptions, Connection } from './connection.ts';

/** Decides whether a connection is served, before anything of it is read. A refused one, or one whose check throws, is cut. */
export type AdmitConnection = (socket: Socket) => Promise<boolean>;

export interface PortOptions extends AcceptOptions {
  /** Undefined: every connection is served. */
  readonly admit: AdmitConnection | undefined;
}

/**
 * What every connection passes first: it is counted as silent, so that checks in progress are bounded, too; then it is checked; then the PROXY
 * header of a trusted proxy is taken off it.
 */
export function acceptConnection(
  socket: Socket,
  { admit, ...accept }: PortOptions,
  next: (connection: Connection) => void,
): void {
  const connection = new Connection(socket, accept);
  const serve = (): void => {
    if (connection.isProxy) connection.readProxyHeader(() => next(connection));
    else next(connection);
  };
  const cut = (): void => void socket.destroy();
  if (admit === undefined) serve();
  else admit(socket).then((isAdmitted) => (isAdmitted && !socket.destroyed ? serve() : cut()), cut);
}
