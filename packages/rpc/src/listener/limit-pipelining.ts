/**
 * HTTP/1.1 requests that are sent before the earlier ones are answered. Node makes objects of all that a packet contains, about 2,000, even
 * once their connection is closed; so it gets packets in pieces, and none after too many.
 */
import type { Socket } from 'node:net';
import { enterInTurns } from '../core/enter-in-turns.ts';
import { maxPipelined } from './limits.ts';
import type { NodeListener } from './node-types.ts';

const pieceBytes = 4 * 1024;

/** Lets requests over HTTP/1.1 enter in turns, and closes connections with too many. */
export function limitPipelining(listener: NodeListener): NodeListener {
  const unanswered = new WeakMap<object, number>();
  return (request, response) => {
    const { socket } = request;
    if (request.httpVersionMajor !== 1) return listener(request, response);
    if (socket.destroyed) return;
    const count = (unanswered.get(socket) ?? 0) + 1;
    if (count > maxPipelined) {
      // What is already buffered is not read either.
      socket.pause();
      socket.destroy();
      return;
    }
    unanswered.set(socket, count);
    response.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
    enterInTurns(socket, { isGone: () => socket.destroyed, enter: () => listener(request, response) });
  };
}

/** For a socket that a server of HTTP/1.1 has. */
export function readInPieces(socket: Socket): void {
  const ignore = (): void => {};
  // Makes Node read from the socket, instead of from its handle.
  socket.on('data', ignore).off('data', ignore);
  const push = socket.push;
  socket.push = (chunk: Uint8Array | null, encoding) => {
    if (chunk === null) return push.call(socket, chunk, encoding);
    let takesMore = true;
    for (const piece of inPieces(chunk)) if (!socket.destroyed) takesMore = push.call(socket, piece, encoding);
    return takesMore;
  };
}

export function inPieces(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) pieces.push(bytes.subarray(at, at + pieceBytes));
  return pieces;
}
