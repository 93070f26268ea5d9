/** A connection whose bytes travel as messages of a bidirectional stream: writes are sent in pieces, and received pieces are read. */
import { Duplex } from 'node:stream';
import { maxTunnelCalls, tunnelWindowBytes } from '../listener/limits.ts';

/** Maximum bytes of one message, so that a large one delays the others on its link only briefly. */
export const maxPieceBytes: number = 64 * 1024;

/** Twice what an honest far end lets us send before it reads: the flow-control window of the connection. */
const maxWaitingBytes = 2 * maxTunnelCalls * tunnelWindowBytes;
/** What a buffer takes beside its content. */
const pieceBytes = 256;

export interface ByteStream {
  readonly duplex: Duplex;
  /** The bytes written to `duplex`; ends with it. */
  readonly outgoing: AsyncIterable<Uint8Array>;
  /** Sends an empty piece, before the bytes that wait. */
  beat(): void;
}

/**
 * A write is accepted at once. Node's HTTP/2 does not read while one of its writes waits, so two ends that both wait would deadlock. The
 * flow-control windows of the HTTP/2 connection limit the bytes that wait; a far end that causes more, by windows without limit or a flood of
 * PINGs whose answers it does not read, loses the connection.
 *
 * @param incoming the bytes that `duplex` reads, without its empty pieces; `duplex` ends or fails with it
 */
export function byteStreamOver(incoming: AsyncIterable<Uint8Array>): ByteStream {
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let isOver = false;
  let isBeatDue = false;
  let wakeWriter = (): void => {};
  let wakeReader = (): void => {};
  const source = incoming[Symbol.asyncIterator]();

  const duplex = new Duplex({
    read: () => wakeReader(),
    write(bytes: Uint8Array, _encoding, done) {
      waiting.push(bytes);
      waitingBytes += bytes.length + pieceBytes;
      const isTooMuch = waitingBytes > maxWaitingBytes;
      if (isTooMuch) waiting = [];
      wakeWriter();
      done(isTooMuch ? new Error('the far end does not read what it asks for') : null);
    },
    final(done) {
      isOver = true;
      wakeWriter();
      done();
    },
    destroy(error, done) {
      isOver = true;
      wakeWriter();
      wakeReader();
      // Not awaited: a generator that waits for its next message would never confirm.
      source.return?.().catch(() => {});
      done(error);
    },
  });

  const receive = async (): Promise<void> => {
    for (;;) {
      const next = await source.next();
      if (duplex.destroyed) return;
      if (next.done === true) break;
      if (next.value.length === 0) continue;
      if (duplex.push(next.value)) continue;
      await new Promise<void>((resolve) => {
        wakeReader = resolve;
      });
    }
    duplex.push(null);
    duplex.end();
  };
  receive().catch((caught: unknown) => duplex.destroy(caught instanceof Error ? caught : new Error(String(caught))));

  async function* outgoing(): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        if (isBeatDue) {
          isBeatDue = false;
          yield new Uint8Array();
          continue;
        }
        if (waiting.length === 0) {
          if (isOver) return;
          await new Promise<void>((resolve) => {
            wakeWriter = resolve;
          });
          continue;
        }
        const bytes = waiting.length === 1 ? waiting[0] : Buffer.concat(waiting);
        [waiting, waitingBytes] = [[], 0];
        for (let at = 0; bytes !== undefined && at < bytes.length; at += maxPieceBytes)
          yield bytes.subarray(at, at + maxPieceBytes);
      }
    } finally {
      // The far end accepts no more.
      duplex.destroy();
    }
  }
  const beat = (): void => {
    isBeatDue = true;
    wakeWriter();
  };
  return { duplex, outgoing: outgoing(), beat };
}
