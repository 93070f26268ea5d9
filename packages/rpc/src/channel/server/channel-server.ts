/** Serves calls over data channels: gRPC in the framing of frames.ts, by the call core that all transports share. */
import type { Clock, Log } from '@platform/base';
import { createCodecs } from '../../codecs/codecs.ts';
import type { ServiceBinding } from '../../core/binding.ts';
import { shutdownReason } from '../../core/errors.ts';
import { standardServices } from '../../standard/standard-services.ts';
import { maxMessageBytes } from '../frames.ts';
import type { MessageChannel } from '../message-channel.ts';
import type { ChannelPeer } from './call-host.ts';
import { ServedChannel } from './served-channel.ts';

export interface ChannelServerOptions<P> {
  /** Health and reflection are added. */
  readonly services: readonly ServiceBinding<P>[];
  readonly clock: Clock;
  readonly log: Log;
}

export interface ChannelServer<P = unknown> extends AsyncDisposable {
  /** Also serves these services, those of modules, in place of those of the last call. */
  setAdded(services: readonly ServiceBinding<P>[]): void;
  /** Serves a channel until it ends. Its calls then end as canceled. */
  serve(channel: MessageChannel, peer: ChannelPeer<P>): Promise<void>;
}

export function createChannelServer<P>({ clock, log, ...options }: ChannelServerOptions<P>): ChannelServer<P> {
  const shutdown = new AbortController();
  let added: readonly ServiceBinding<P>[] = [];
  const services = [...options.services, ...standardServices<P>(options.services, () => added).services];
  const codecs = createCodecs<P>({
    ...{ services, maxMessageBytes, clock, log },
    // Each channel has its own.
    authenticate: () => Promise.reject(new Error('a channel has no peer')),
    // Whoever opened the channel has been authenticated, for health and reflection as well.
    open: new Set(),
    shutdownSignal: shutdown.signal,
    callerFields: () => ({}),
  });
  const channels = new Set<ServedChannel<P>>();
  return {
    setAdded(services) {
      codecs.setAdded(services);
      added = services;
    },
    async serve(channel, peer) {
      const served = new ServedChannel<P>({ channel, peer, codecs, clock, log });
      channels.add(served);
      await served.ended;
      channels.delete(served);
    },
    async [Symbol.asyncDispose]() {
      const reason = shutdownReason();
      shutdown.abort(reason);
      await Promise.all([...channels].map((served) => served.shutDown(reason)));
    },
  };
}
