/**
 * A peer that lives in the engine's process, from the parent's side.
 *
 * States: new → described → open → ended. It ends when either side closes it, the connection or the process is lost, a description cannot be
 * read, or it has not opened in time.
 */
import {
  asPlatformError,
  type Clock,
  failedPrecondition,
  invalidArgument,
  PlatformError,
  unavailable,
} from '@platform/base';
import { maxSdpBytes } from '../limits.ts';
import type { Candidate, Peer, SelectedPair } from '../peer.ts';
import { createPeerState } from '../peer-state.ts';
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
  let described: PromiseWithResolvers<string> | undefined;
  const pairs: ((pair: SelectedPair | undefined) => void)[] = [];
  let remoteCandidates = 0;
  const state = createPeerState({
    ...{ clock, send },
    onEnd(reason) {
      tell({ type: 'close' });
      described?.reject(reason);
      for (const resolve of pairs.splice(0)) resolve(undefined);
      onEnd();
    },
  });
  const describe = async (message: ToEngine): Promise<string> => {
    if (state.ended.aborted) throw asPlatformError(state.ended.reason);
    if (described !== undefined) throw failedPrecondition('expected one description at a time');
    described = Promise.withResolvers();
    const { promise } = described;
    if ('sdp' in message && Buffer.byteLength(message.sdp) > maxSdpBytes)
      state.end(invalidArgument(`SDP: expected at most ${maxSdpBytes} bytes`));
    else tell(message);
    try {
      return await promise;
    } finally {
      described = undefined;
    }
  };
  const control = (message: FromEngine): void => {
    if (message.type === 'described') described?.resolve(message.sdp);
    else if (message.type === 'rejected') state.end(invalidArgument(`SDP: ${message.reason}`));
    else if (message.type === 'candidate') state.candidates.add(message.candidate);
    else if (message.type === 'gathered') state.candidates.complete();
    else if (message.type === 'pair') pairs.shift()?.(message.pair);
    else if (message.type === 'ended') state.end(new PlatformError(message.code, message.reason));
    else if (message.type === 'opened') state.open();
    else throw new Error(`expected a message of a peer, found ${message.type}`);
  };
  const peer: Peer = {
    offer: () => describe({ type: 'offer' }),
    answer: (sdp) => describe({ type: 'answer', sdp }),
    async accept(sdp) {
      await describe({ type: 'accept', sdp });
    },
    addCandidate(candidate: Candidate) {
      const length = candidate.candidate.length + candidate.mid.length;
      if (state.ended.aborted || length > maxCandidateLength || ++remoteCandidates > maxRemoteCandidates) return;
      tell({ type: 'candidate', candidate });
    },
    candidates: state.candidates,
    opened: state.opened,
    ended: state.ended,
    selectedPair() {
      if (!state.isOpen) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        pairs.push(resolve);
        tell({ type: 'pair' });
      });
    },
    async [Symbol.asyncDispose]() {
      state.channel.close();
    },
  };
  return {
    peer,
    take({ kind, payload }) {
      if (state.ended.aborted) return;
      if (kind === frameKinds.message) state.channel.receive(payload);
      else if (kind === frameKinds.sent) state.channel.sent(payload.readUInt32BE());
      else control(readControl(payload));
    },
    lose: (reason) => state.end(unavailable(reason)),
  };
}
