/**
 * A peer that lives in the engine's process, from the parent's side.
 *
 * States: new → described → open → ended. It ends when either side closes it, the connection or the process is lost, a description cannot be
 * read, or it has not opened within 20 s.
 */
import {
  asPlatformError,
  type Clock,
  deadlineExceeded,
  failedPrecondition,
  invalidArgument,
  PlatformError,
  unavailable,
} from '@platform/base';
import type { MessageChannel } from '@platform/rpc/channel';
import { CandidateList } from '../candidate-list.ts';
import { ChannelState } from '../channel-state.ts';
import { maxSdpBytes, openWithinMs } from '../limits.ts';
import type { Candidate, Peer, SelectedPair } from '../peer.ts';
import { type Frame, type FromEngine, frameKinds, readControl, type ToEngine } from './frames.ts';

export interface ChildPeerDeps {
  readonly clock: Clock;
  readonly tell: (message: ToEngine) => void;
  readonly send: (message: Uint8Array) => void;
  /** Called once, when it has ended. */
  readonly onEnd: () => void;
}

export interface ChildPeer {
  readonly peer: Peer;
  /** Takes a frame of the engine. @throws if it cannot be read */
  take(frame: Frame): void;
  /** Ends it because the process has. */
  lose(reason: string): void;
}

/** Callers have about ten candidates, of 100 bytes each; the process takes 64. */
const maxRemoteCandidates = 128;
const maxCandidateLength = 1024;

export function createChildPeer({ clock, tell, send, onEnd }: ChildPeerDeps): ChildPeer {
  const stop = new AbortController();
  const candidates = new CandidateList();
  const opened = Promise.withResolvers<MessageChannel>();
  opened.promise.catch(() => {});
  let described: PromiseWithResolvers<string> | undefined;
  let pairs: ((pair: SelectedPair | undefined) => void)[] = [];
  let remoteCandidates = 0;
  let isOpen = false;

  const end = (reason: PlatformError): void => {
    if (stop.signal.aborted) return;
    limit[Symbol.dispose]();
    tell({ type: 'close' });
    stop.abort(reason);
    candidates.complete();
    opened.reject(reason);
    described?.reject(reason);
    for (const resolve of pairs.splice(0)) resolve(undefined);
    onEnd();
  };
  const limit = clock.after(openWithinMs, () =>
    end(deadlineExceeded(`the connection was not open within ${openWithinMs / 1000} s`)),
  );
  const channel = new ChannelState({ send, end, ended: stop.signal });
  const describe = async (message: ToEngine): Promise<string> => {
    if (stop.signal.aborted) throw asPlatformError(stop.signal.reason);
    if (described !== undefined) throw failedPrecondition('expected one description at a time');
    if ('sdp' in message && Buffer.byteLength(message.sdp) > maxSdpBytes) {
      const refused = invalidArgument(`SDP: expected at most ${maxSdpBytes} bytes`);
      end(refused);
      throw refused;
    }
    described = Promise.withResolvers();
    tell(message);
    try {
      return await described.promise;
    } finally {
      described = undefined;
    }
  };
  const control = (message: FromEngine): void => {
    if (message.type === 'described') described?.resolve(message.sdp);
    else if (message.type === 'rejected') end(invalidArgument(`SDP: ${message.reason}`));
    else if (message.type === 'candidate') candidates.add(message.candidate);
    else if (message.type === 'gathered') candidates.complete();
    else if (message.type === 'pair') pairs.shift()?.(message.pair);
    else if (message.type === 'ended') end(new PlatformError(message.code, message.reason));
    else if (message.type === 'opened') {
      isOpen = true;
      limit[Symbol.dispose]();
      opened.resolve(channel);
    } else throw new Error(`expected a message of a peer, found ${message.type}`);
  };
  return {
    peer: {
      offer: () => describe({ type: 'offer' }),
      answer: (sdp) => describe({ type: 'answer', sdp }),
      async accept(sdp) {
        await describe({ type: 'accept', sdp });
      },
      addCandidate(candidate: Candidate) {
        const length = candidate.candidate.length + candidate.mid.length;
        if (stop.signal.aborted || length > maxCandidateLength || ++remoteCandidates > maxRemoteCandidates) return;
        tell({ type: 'candidate', candidate });
      },
      candidates,
      opened: opened.promise,
      ended: stop.signal,
      selectedPair() {
        if (!isOpen || stop.signal.aborted) return Promise.resolve(undefined);
        return new Promise((resolve) => {
          pairs = [...pairs, resolve];
          tell({ type: 'pair' });
        });
      },
      async [Symbol.asyncDispose]() {
        channel.close();
      },
    },
    take({ kind, payload }) {
      if (stop.signal.aborted) return;
      if (kind === frameKinds.message) channel.receive(payload);
      else if (kind === frameKinds.sent) channel.sent(payload.readUInt32BE());
      else control(readControl(payload));
    },
    lose: (reason) => end(unavailable(reason)),
  };
}
