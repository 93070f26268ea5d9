/** A caller of a machine over WebRTC, as programs are: found through the cloud, by the name of its part. */
import { systemClock } from '@platform/base';
import { SignalingService } from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import type { MessageChannel } from '@platform/rpc/channel';
import { connectChannel, type Link } from '@platform/rpc/client';
import type { Engine } from '../peer.ts';
import { dial } from '../signaling/dial.ts';

export interface DirectCall extends AsyncDisposable {
  /** To the machine. */
  readonly link: Pick<Link, 'client' | 'withHeaders'>;
  readonly channel: MessageChannel;
}

/**
 * @param cloud a link to it with the credentials of the caller
 * @param host the full name of the part
 * @throws PlatformError as `dial` does
 */
export async function callDirectly(cloud: Pick<Link, 'client'>, engine: Engine, host: string): Promise<DirectCall> {
  const signaling = cloud.client(SignalingService);
  const { peer, channel } = await dial({ signaling, host, engine, clock: systemClock });
  return {
    link: connectChannel({ channel, peerName: host, userAgent: 'direct-call' }),
    channel,
    [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose](),
  };
}
