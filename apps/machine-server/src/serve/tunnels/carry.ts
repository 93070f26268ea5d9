/**
 * The bytes of one tunnel, in both directions at once. Each is read only as fast as the other end takes it, so what waits is at most a
 * message of the caller, and the buffer of a socket. The end of the caller's messages closes that direction only.
 */
import type { Socket } from 'node:net';
import { aborted, errorText } from '@platform/base';
import type { TunnelRequest } from '@platform/proto/platform/robot/v1/robot';

export interface CarriedPiece {
  readonly data?: Uint8Array;
  readonly eof?: boolean;
}

export interface CarryOptions {
  readonly port: number;
  /** The bytes of the message that named the port. */
  readonly first: Uint8Array;
  readonly messages: AsyncIterator<TunnelRequest>;
  /**
   * Whether the caller understands `eof`. The end of what the program sends otherwise ends the call: public clients have no other sign of it.
   */
  readonly halfClose: boolean;
  readonly signal: AbortSignal;
}

/** What the program sends. The socket is closed at the end; it is reset if that is not the end of both directions. */
export async function* carry(
  socket: Socket,
  { port, first, messages, halfClose, signal }: CarryOptions,
): AsyncGenerator<CarriedPiece, void> {
  const reset = (): void => void socket.resetAndDestroy();
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  signal.addEventListener('abort', reset, { once: true });
  if (signal.aborted) reset();
  let isOver = false;
  try {
    const sent = send(socket, first, messages);
    for await (const data of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) yield { data };
    if (halfClose) {
      yield { eof: true };
      await Promise.race([sent, closed]);
      if (socket.errored) throw socket.errored;
    }
    signal.throwIfAborted();
    isOver = true;
  } catch (caught) {
    if (signal.aborted) throw signal.reason;
    throw aborted(`port ${port} of this machine: the program broke the connection: ${errorText(caught)}`, caught);
  } finally {
    signal.removeEventListener('abort', reset);
    if (isOver) socket.destroySoon();
    else reset();
  }
}

/** Never rejects: a caller who is gone resets the connection, so that the program does not take half of its bytes for all of them. */
async function send(socket: Socket, first: Uint8Array, messages: AsyncIterator<TunnelRequest>): Promise<void> {
  try {
    await write(socket, first);
    for (let next = await messages.next(); next.done !== true; next = await messages.next()) {
      if (socket.destroyed) return;
      await write(socket, next.value.data);
    }
    socket.end();
  } catch {
    // Otherwise what the program still gets is on its way.
    if (!socket.writableEnded) socket.resetAndDestroy();
  }
}

async function write(socket: Socket, data: Uint8Array): Promise<void> {
  if (data.length === 0 || socket.write(data)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.once('drain', resolve).once('close', resolve);
  await promise;
  socket.off('drain', resolve).off('close', resolve);
}
