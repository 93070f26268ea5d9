/** Connects to a program of this computer, over IPv4 or else IPv6 loopback, whatever `localhost` means here. */
import { connect, type LookupFunction, type Socket } from 'node:net';
import { type Clock, deadlineExceeded, unavailable } from '@platform/base';
import { codeOf } from '../../hardware/device-error.ts';

export interface ConnectOptions {
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const loopback: LookupFunction = (_hostname, _options, callback) =>
  callback(null, [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]);

/** Either end of the connection may close its direction first. @throws unavailable, deadline_exceeded, the reason of the signal */
export async function connectToPort(port: number, { timeoutMs, clock, signal }: ConnectOptions): Promise<Socket> {
  signal.throwIfAborted();
  const connected = Promise.withResolvers<void>();
  const socket = connect({ host: 'localhost', port, lookup: loopback, autoSelectFamily: true, allowHalfOpen: true });
  socket.once('connect', () => connected.resolve());
  // From here on an error never ends the process; whoever reads gets it.
  socket.on('error', (caught) => connected.reject(refused(port, caught)));
  const abandon = (): void => connected.reject(signal.reason);
  signal.addEventListener('abort', abandon, { once: true });
  using _limit = clock.after(timeoutMs, () =>
    connected.reject(
      deadlineExceeded(
        `port ${port} of this machine: expected a connection within ${timeoutMs} ms (connection_timeout), found none`,
      ),
    ),
  );
  try {
    await connected.promise;
    return socket.setNoDelay(true);
  } catch (caught) {
    socket.destroy();
    throw caught;
  } finally {
    signal.removeEventListener('abort', abandon);
  }
}

function refused(port: number, caught: unknown) {
  const code = codeOf(caught);
  return unavailable(
    code === 'ECONNREFUSED'
      ? `port ${port} of this machine: expected a program that listens, found none; start it`
      : `port ${port} of this machine cannot be reached (${code})`,
    caught,
  );
}
