/** Reads the first bytes of a plaintext connection to tell HTTP/2 by prior knowledge from HTTP/1.1. */
import type { Socket } from 'node:net';
import { inPieces } from './limit-pipelining.ts';

const preface = Buffer.from('PRI * HTTP/2.0');

/**
 * Resolves with the version after putting the bytes back into the socket. Resolves with undefined, and destroys the socket, when the
 * connection ended.
 */
export function peekVersion(socket: Socket): Promise<'h2' | 'http/1.1' | undefined> {
  return new Promise((resolve) => {
    let seen: Buffer = Buffer.alloc(0);
    const finish = (version: 'h2' | 'http/1.1' | undefined): void => {
      socket.off('readable', onReadable);
      socket.off('close', onClose);
      socket.off('end', onClose);
      if (version === undefined) socket.destroy();
      else for (const piece of version === 'h2' ? [seen] : inPieces(seen).reverse()) socket.unshift(piece);
      resolve(version);
    };
    const onClose = (): void => finish(undefined);
    const onReadable = (): void => {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      seen = Buffer.concat([seen, chunk]);
      const length = Math.min(seen.length, preface.length);
      if (!seen.subarray(0, length).equals(preface.subarray(0, length))) finish('http/1.1');
      else if (length === preface.length) finish('h2');
    };
    socket.on('readable', onReadable);
    socket.on('close', onClose);
    socket.on('end', onClose);
  });
}
