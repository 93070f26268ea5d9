/**
 * What every peer has, whatever its engine: whether it has opened, and how it ended. It ends by itself if it has not opened within 20 s.
 *
 * States: connecting → open → ended.
 */
import type { Clock } from '@platform/base';
import type { PlatformError } from '@platform/base/errors';
import { deadlineExceeded } from '@platform/base/refusals';
import type { MessageChannel } from '@platform/rpc/channel';
import { CandidateList } from './candidate-list.ts';
import { ChannelState } from './channel-state.ts';
import { openWithinMs } from './limits.ts';

export interface PeerStateDeps {
  readonly clock: Clock;
  readonly send: (message: Uint8Array) => void;
  /** Called once, when it has ended. */
  readonly onEnd: (reason: PlatformError) => void;
}

export interface PeerState {
  readonly isOpen: boolean;
  readonly opened: Promise<MessageChannel>;
  readonly ended: AbortSignal;
  readonly candidates: CandidateList;
  readonly channel: ChannelState;
  open(): void;
  /** Without effect once it has ended. */
  end(reason: PlatformError): void;
}

export function createPeerState({ clock, send, onEnd }: PeerStateDeps): PeerState {
  const stop = new AbortController();
  const candidates = new CandidateList();
  const opened = Promise.withResolvers<MessageChannel>();
  // Who does not wait for it learns of the end by `ended`.
  opened.promise.catch(() => {});
  let isOpen = false;
  const end = (reason: PlatformError): void => {
    if (stop.signal.aborted) return;
    isOpen = false;
    limit[Symbol.dispose]();
    stop.abort(reason);
    candidates.complete();
    opened.reject(reason);
    onEnd(reason);
  };
  const limit = clock.after(openWithinMs, () =>
    end(deadlineExceeded(`the connection was not open within ${openWithinMs / 1000} s`)),
  );
  const channel = new ChannelState({ send, end, ended: stop.signal });
  return {
    get isOpen() {
      return isOpen;
    },
    opened: opened.promise,
    ended: stop.signal,
    candidates,
    channel,
    open() {
      if (stop.signal.aborted) return;
      isOpen = true;
      limit[Symbol.dispose]();
      opened.resolve(channel);
    },
    end,
  };
}
