/**
 * The links of machines that wait for calls: one for each part. A machine that connects again replaces its earlier link, which may still be
 * open only because no one has noticed that it is broken.
 */
import { aborted, type Clock, type PlatformError, unavailable } from '@platform/base';
import { byteStreamOver, connectOver, type Link } from '@platform/rpc/client';

export interface PartLink {
  readonly partId: string;
  /** Wall clock, ms. */
  readonly sinceMs: number;
  /** Calls the machine. */
  readonly link: Link;
  /** Aborts with the reason when the link has ended. */
  readonly ended: AbortSignal;
  /** Bytes for the machine. */
  readonly outgoing: AsyncIterable<Uint8Array>;
  /** Bytes sent over the link so far, in both directions. */
  readonly bytes: () => number;
  end(reason: PlatformError): void;
}

export interface Links {
  /** @param incoming bytes from the machine; an empty piece is a heartbeat, which is answered by another one */
  open(partId: string, incoming: AsyncIterable<Uint8Array>): PartLink;
  of(partId: string): PartLink | undefined;
  /** When a part that now has no link lost its last one, by the wall clock in ms; undefined: not since this cloud started. */
  lostMs(partId: string): number | undefined;
}

/** Includes parts that have been deleted; the oldest are forgotten. */
const maxLost = 10_000;

export function createLinks(clock: Clock): Links {
  const links = new Map<string, PartLink>();
  const lost = new Map<string, number>();
  return {
    open(partId, incoming) {
      let bytes = 0;
      async function* counted(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
        for await (const piece of pieces) {
          bytes += piece.length;
          yield piece;
        }
      }
      const stream = byteStreamOver(answered(counted(incoming), () => stream.beat()));
      const { duplex, outgoing } = stream;
      const link = connectOver({ stream: duplex, peerName: 'the machine', userAgent: 'platform-cloud', clock });
      const over = new AbortController();
      const end = (reason: PlatformError): void => {
        if (over.signal.aborted) return;
        over.abort(reason);
        if (links.get(partId) === opened) {
          links.delete(partId);
          lost.delete(partId);
          lost.set(partId, clock.now());
          const [oldest] = lost.keys();
          if (lost.size > maxLost && oldest !== undefined) lost.delete(oldest);
        }
        duplex.destroy();
        void link[Symbol.asyncDispose]();
      };
      const opened: PartLink = {
        ...{ partId, sinceMs: clock.now(), link, ended: over.signal, end },
        ...{ outgoing: counted(outgoing), bytes: () => bytes },
      };
      duplex.once('close', () => end(unavailable('the connection of the machine has ended')));
      // Without a listener, the error of a broken link would end the process.
      duplex.on('error', () => {});
      links.get(partId)?.end(replaced(partId));
      links.set(partId, opened);
      lost.delete(partId);
      return opened;
    },
    of: (partId) => links.get(partId),
    lostMs: (partId) => lost.get(partId),
  };
}

/** The answer to a heartbeat shows the machine that the cloud hears it: a proxy between them may keep the connection when it does not. */
async function* answered(pieces: AsyncIterable<Uint8Array>, answer: () => void): AsyncGenerator<Uint8Array, void> {
  for await (const piece of pieces)
    if (piece.length === 0) answer();
    else yield piece;
}

function replaced(partId: string): PlatformError {
  return aborted(
    `part ${partId}: another connection for the same part has replaced this one; if two machine-servers run with the same credentials file, stop one of them`,
  );
}
