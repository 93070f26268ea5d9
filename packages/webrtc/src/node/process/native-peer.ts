/**
 * One peer over node-datachannel.
 *
 * States: new → described (offer or answer; candidates come and go) → open → ended. Each callback of the library goes through `guarded`: an
 * error that leaves one would abort the process, and with it all peers.
 */
import type { Clock } from '@platform/base';
import type { DataChannel, PeerConnection, RtcConfig } from 'node-datachannel';
import { maxMessageBytes, maxSdpBytes } from '../../limits.ts';
import type { Candidate, SelectedPair } from '../../peer.ts';
import type { FromEngine, NativeIceServer } from '../frames.ts';
import { pairOf } from './candidate-kind.ts';
import { beginsHere, checkedSdp, isUsable, letOffererBegin, loopbackCandidate, maxCandidates } from './sdp.ts';

export type Library = typeof import('node-datachannel');

export interface NativePeerDeps {
  readonly library: Library;
  readonly clock: Clock;
  /** The UDP port that all peers share which answer. */
  readonly port: number;
  readonly iceServers: readonly NativeIceServer[];
  readonly tell: (message: FromEngine) => void;
  readonly onMessage: (message: Buffer) => void;
  /** Bytes of messages that were handed to the network. */
  readonly onSent: (bytes: number) => void;
}

export interface NativePeer {
  offer(): void;
  /** @throws if it cannot be read; so do the others */
  answer(offer: string): void;
  accept(answer: string): void;
  addCandidate(candidate: Candidate): void;
  send(message: Buffer): void;
  selectedPair(): SelectedPair | undefined;
  /** Ends it; `reason` is told. Without effect on one that has ended. */
  end(code: 'unavailable' | 'resource_exhausted', reason: string): void;
}

/** Below this many bytes in the library's queue, what was sent is reported; then again when it is empty. */
const lowBytes = 256 << 10;
/**
 * How long the side that answers may check its candidates before this side does, if this side takes the first step of DTLS: it then listens
 * when that step arrives. Without it, 3 to 20 of 100 dials between two engines of ours take a second longer; with 20 ms, none of 100.
 */
const headStartMs = 25;
/** Channels that the other side may open beside ours; they are closed at once. */
const maxForeignChannels = 16;

export function createNativePeer(deps: NativePeerDeps): NativePeer {
  const { library, clock, tell } = deps;
  let connection: PeerConnection | undefined;
  let channel: DataChannel | undefined;
  let [isOpen, hasEnded, hasDescription] = [false, false, false];
  let [unreported, candidates, foreignChannels] = [0, 0, 0];
  const early: Candidate[] = [];

  const end: NativePeer['end'] = (code, reason) => {
    if (hasEnded) return;
    hasEnded = true;
    tell({ type: 'ended', code, reason });
    try {
      // Closes its channels, too.
      connection?.close();
    } catch {
      // What is left of it ends with the process.
    }
    connection = undefined;
    channel = undefined;
  };
  const guarded =
    <Args extends readonly unknown[]>(run: (...args: Args) => void): ((...args: Args) => void) =>
    (...args) => {
      if (hasEnded) return;
      try {
        run(...args);
      } catch (caught) {
        fail(caught);
      }
    };
  const fail = (caught: unknown): void => end('unavailable', `the WebRTC engine: ${textOf(caught)}`);
  const opened = (): void => {
    if (isOpen) return;
    isOpen = true;
    tell({ type: 'opened' });
  };
  const reportSent = (): void => {
    const waiting = channel?.bufferedAmount() ?? 0;
    const bytes = unreported - waiting;
    unreported = waiting;
    if (bytes > 0) deps.onSent(bytes);
    // The library calls back when its queue shrinks to the threshold, and knows only one.
    if (waiting > 0) channel?.setBufferedAmountLowThreshold(waiting > lowBytes ? lowBytes : 0);
  };

  const connect = (role: 'offer' | 'answer'): PeerConnection => {
    if (connection !== undefined) throw new Error('expected one offer or answer for each peer');
    const made = new library.PeerConnection('', configOf(deps, role));
    connection = made;
    made.onLocalDescription(
      guarded((sdp) => {
        tell({ type: 'described', sdp });
        if (role === 'answer') tell({ type: 'candidate', candidate: loopbackCandidate(deps.port, sdp) });
      }),
    );
    made.onLocalCandidate(
      guarded((candidate, mid) => {
        tell({ type: 'candidate', candidate: { candidate: candidate.replace(/^a=/, ''), mid } });
      }),
    );
    made.onGatheringStateChange(guarded((state) => state === 'complete' && tell({ type: 'gathered' })));
    made.onStateChange(guarded((state) => endIfLost(state, isOpen, end)));
    made.onIceStateChange(guarded((state) => endIfLost(state, isOpen, end)));
    made.onDataChannel(
      guarded((foreign) => {
        foreign.close();
        if (++foreignChannels > maxForeignChannels)
          end('resource_exhausted', 'the other side opened too many channels');
      }),
    );
    channel = made.createDataChannel('data', { negotiated: true, id: 0 });
    channel.onOpen(guarded(opened));
    channel.onMessage(
      guarded((message) => {
        // Callbacks of different kinds may change places.
        opened();
        const bytes = bytesOf(message);
        if (bytes.length <= maxMessageBytes) deps.onMessage(bytes);
        else end('resource_exhausted', tooLong(bytes.length));
      }),
    );
    channel.onBufferedAmountLow(guarded(reportSent));
    channel.onClosed(guarded(() => end('unavailable', 'the other side closed the connection')));
    channel.onError(guarded((reason) => end('unavailable', `the channel failed: ${reason}`)));
    const negotiation = made.createDataChannel('negotiation', { negotiated: true, id: 1 });
    // Without a callback, the library would keep what arrives.
    negotiation.onMessage(guarded(() => {}));
    return made;
  };
  const use = ({ candidate, mid }: Candidate): void => {
    try {
      connection?.addRemoteCandidate(candidate, mid);
    } catch {
      // It cannot be used.
    }
  };
  const describe = (description: string, type: 'offer' | 'answer', made: PeerConnection): void => {
    made.setRemoteDescription(description, type);
    hasDescription = true;
    for (const candidate of early.splice(0)) use(candidate);
  };
  return {
    offer: () => connect('offer').setLocalDescription('offer'),
    answer(offer) {
      const sdp = letOffererBegin(readSdp(offer));
      const made = connect('answer');
      describe(sdp, 'offer', made);
      made.setLocalDescription('answer');
    },
    accept(answer) {
      const sdp = readSdp(answer);
      if (connection === undefined || hasDescription) throw new Error('expected one answer, after an offer');
      clock.after(
        beginsHere(sdp) ? headStartMs : 0,
        guarded(() => {
          if (connection === undefined) return;
          try {
            describe(sdp, 'answer', connection);
            tell({ type: 'described', sdp: '' });
          } catch (caught) {
            tell({ type: 'rejected', reason: textOf(caught) });
          }
        }),
      );
    },
    addCandidate(candidate) {
      if (hasEnded || !isUsable(candidate.candidate) || ++candidates > maxCandidates) return;
      if (hasDescription) use(candidate);
      else early.push(candidate);
    },
    send(message) {
      if (hasEnded || channel === undefined) return;
      unreported += message.length;
      try {
        channel.sendMessageBinary(message);
        reportSent();
      } catch (caught) {
        fail(caught);
      }
    },
    selectedPair() {
      const pair = isOpen ? connection?.getSelectedCandidatePair() : undefined;
      return pair ? pairOf(pair) : undefined;
    },
    end,
  };
}

/**
 * Peers that answer share one port. The library tells them apart by the address of the other end, so those that call have ports of their
 * own: two of them at one port could not both call the same engine.
 */
function configOf({ port, iceServers }: NativePeerDeps, role: 'offer' | 'answer'): RtcConfig {
  return {
    iceServers: iceServers.map(({ hostname, port: at, user }) => ({
      ...{ hostname, port: at },
      ...(user !== undefined && { ...user, relayType: 'TurnUdp' as const }),
    })),
    disableAutoNegotiation: true,
    maxMessageSize: maxMessageBytes,
    ...(role === 'answer' && { enableIceUdpMux: true, portRangeBegin: port, portRangeEnd: port }),
  };
}

function endIfLost(state: string, wasOpen: boolean, end: NativePeer['end']): void {
  if (!['disconnected', 'failed', 'closed'].includes(state)) return;
  if (!wasOpen) end('unavailable', 'the other side could not be reached');
  else end('unavailable', state === 'closed' ? 'the other side closed the connection' : 'the connection was lost');
}

function readSdp(sdp: string): string {
  if (sdp.length > maxSdpBytes) throw new Error(`expected at most ${maxSdpBytes} bytes, found ${sdp.length}`);
  return checkedSdp(sdp);
}

/** Text counts as its bytes. */
function bytesOf(message: string | Buffer | ArrayBuffer): Buffer {
  if (typeof message === 'string') return Buffer.from(message);
  return Buffer.isBuffer(message) ? message : Buffer.from(message);
}

function tooLong(bytes: number): string {
  return `the other side sent a message of ${bytes} bytes; expected at most ${maxMessageBytes}`;
}

export function textOf(caught: unknown): string {
  return caught instanceof Error ? caught.message : String(caught);
}
