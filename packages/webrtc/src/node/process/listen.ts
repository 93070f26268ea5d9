/** The callbacks of a connection of the library, and its two channels. */
import type { DataChannel, PeerConnection } from 'node-datachannel';
import type { Candidate } from '../../peer.ts';

export interface ConnectionEvents {
  /** The SDP of this side. */
  readonly onDescription: (sdp: string) => void;
  readonly onCandidate: (candidate: Candidate) => void;
  /** All candidates are known. */
  readonly onGathered: () => void;
  /** The channel `data` is open. It may come after the first message. */
  readonly onOpen: () => void;
  readonly onMessage: (message: Buffer) => void;
  /** The queue of the channel has shrunk to the threshold. */
  readonly onQueueLow: () => void;
  /** The connection or the channel has failed, or the other side has closed it. Possibly several times. */
  readonly onLost: () => void;
  /** The other side has opened a channel beside ours, which was closed. */
  readonly onForeignChannel: () => void;
}

/** Makes a callback of one that may throw, which no callback of the library may. */
export type Guard = <Args extends readonly unknown[]>(run: (...args: Args) => void) => (...args: Args) => void;

/** @returns the channel `data` */
export function listen(connection: PeerConnection, guarded: Guard, events: ConnectionEvents): DataChannel {
  const { onDescription, onCandidate, onGathered, onOpen, onMessage, onQueueLow, onLost, onForeignChannel } = events;
  const look = guarded((state: string) => {
    if (['disconnected', 'failed', 'closed'].includes(state)) onLost();
  });
  connection.onLocalDescription(guarded((sdp) => onDescription(sdp)));
  connection.onLocalCandidate(
    guarded((candidate, mid) => onCandidate({ candidate: candidate.replace(/^a=/, ''), mid })),
  );
  connection.onGatheringStateChange(guarded((state) => state === 'complete' && onGathered()));
  connection.onStateChange(look);
  connection.onIceStateChange(look);
  connection.onDataChannel(
    guarded((foreign) => {
      foreign.close();
      onForeignChannel();
    }),
  );
  const channel = connection.createDataChannel('data', { negotiated: true, id: 0 });
  channel.onOpen(guarded(onOpen));
  channel.onMessage(guarded((message) => onMessage(bytesOf(message))));
  channel.onBufferedAmountLow(guarded(onQueueLow));
  channel.onClosed(guarded(onLost));
  channel.onError(guarded(onLost));
  const negotiation = connection.createDataChannel('negotiation', { negotiated: true, id: 1 });
  // Without a callback, the library would keep what arrives.
  negotiation.onMessage(guarded(() => {}));
  return channel;
}

/** Text counts as its bytes. */
function bytesOf(message: string | Buffer | ArrayBuffer): Buffer {
  if (typeof message === 'string') return Buffer.from(message);
  return Buffer.isBuffer(message) ? message : Buffer.from(message);
}
