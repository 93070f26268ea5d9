/** What a call needs of the channel that it came over. */
import type { Clock, Log } from '@platform/base';
import type { ExtensibleCodecs } from '../../codecs/codecs.ts';
import type { Authenticate } from '../../core/admission.ts';
import type { MessageChannel } from '../message-channel.ts';

/** Who is at the other end of a channel. */
export interface ChannelPeer<P> {
  /** For handlers and logs: `address:port`. */
  readonly address: string;
  /** Identifies the caller of each call. Whoever opened the channel has authenticated the peer. */
  readonly authenticate: Authenticate<P>;
}

export interface ServedChannelDeps<P> {
  readonly channel: MessageChannel;
  readonly peer: ChannelPeer<P>;
  readonly codecs: Pick<ExtensibleCodecs<P>, 'method' | 'hasService'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface CallHost<P> {
  readonly deps: ServedChannelDeps<P>;
  /** Accounts for bytes that wait. False: the channel has too many. */
  take(bytes: number): boolean;
  free(bytes: number): void;
  /** The call has ended. */
  leave(id: bigint): void;
}
