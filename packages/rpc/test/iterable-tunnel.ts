import type { Duplex } from 'node:stream';
import { byteStreamOver } from '../src/tunnel/byte-stream.ts';

/** Two ends of a connection whose bytes travel as messages, as through the link of a machine. */
export function iterableTunnel(): { readonly near: Duplex; readonly far: Duplex } {
  const feed = Promise.withResolvers<AsyncIterable<Uint8Array>>();
  async function* later(): AsyncGenerator<Uint8Array, void> {
    yield* await feed.promise;
  }
  const near = byteStreamOver(later());
  const far = byteStreamOver(near.outgoing);
  feed.resolve(far.outgoing);
  return { near: near.duplex.on('error', () => {}), far: far.duplex.on('error', () => {}) };
}
