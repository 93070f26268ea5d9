/** A connection over WebRTC as a link for calls. No Node: browsers load this file. */
import type { Clock } from '@platform/base/portable';
import { SignalingService } from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import { connectChannel } from '@platform/rpc/portable';
import type { Engine } from '../peer.ts';
import { dial } from '../signaling/dial.ts';
import type { FastLink } from './choose-path.ts';
import type { Connection } from './path.ts';

export interface DialLinkOptions {
  /** To the cloud. */
  readonly signaling: Pick<Connection, 'client'>;
  /** The full name of the machine; asked for at each attempt until it is known. */
  readonly host: () => Promise<string>;
  readonly engine: () => Promise<Engine>;
  readonly userAgent: string;
  /** Deadline of calls that set none. */
  readonly timeoutMs: number;
  /** Ends calls that have no signal of their own. */
  readonly signal?: AbortSignal | undefined;
  readonly clock: Clock;
}

export function linkDialer(options: DialLinkOptions): (signal: AbortSignal) => Promise<FastLink> {
  const { signaling, userAgent, timeoutMs, signal: ending, clock } = options;
  const client = signaling.client(SignalingService);
  return async (signal) => {
    const [host, engine] = await Promise.all([options.host(), options.engine()]);
    const { peer, channel } = await dial({ signaling: client, host, engine, clock, signal });
    const calls = { channel, userAgent, timeoutMs, signal: ending, clock };
    return {
      link: connectChannel({ ...calls, peerName: `the machine ${host} over WebRTC` }),
      ended: channel.ended,
      [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose](),
    };
  };
}
