/**
 * One peer over node-datachannel.
 *
 * States: new → described (offer or answer; candidates come and go) → open → ended. Each callback of the library goes through `guarded`: an
 * error that leaves one would abort the process, and with it all peers.
 *
 * The library has two races, which the order of steps avoids:
 * - While it reads an answer, the connection may already work, if the other side has this side's candidates. It then compares the
 *   certificate of the other side with a description that is not there yet, and fails. So the candidates of an offer are told only after the
 *   answer was read.
 * - The first step of DTLS is lost if the other side's checks have not succeeded yet, and repeated after a second. So the side that offers
 *   takes it (`letOffererBegin`), and lets the other side check first: its own checks are then answers, which arrive when the other side
 *   listens.
 */
import type { Clock } from '@platform/base';
import type { DataChannel, PeerConnection, RtcConfig } from 'node-datachannel';
import { pairOf } from '../../candidate-kind.ts';
import { maxMessageBytes, maxSdpBytes } from '../../limits.ts';
import type { Candidate, SelectedPair } from '../../peer.ts';
import { createSentReport } from '../../sent-report.ts';
import type { FromEngine, NativeIceServer } from '../frames.ts';
import { createCandidateOrder } from './candidate-order.ts';
import { listen } from './listen.ts';
import { beginsHere, checkedSdp, letOffererBegin, loopbackCandidate, withoutCandidates } from './sdp.ts';

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

/** How long the other side's checks may take before this side begins its own; see the top. */
const headStartMs = 100;
/** Channels that the other side may open beside ours; they are closed at once. */
const maxForeignChannels = 16;

const lost = 'the other side closed the connection, or it was lost';
const unreachable = 'the other side could not be reached';

export function createNativePeer(deps: NativePeerDeps): NativePeer {
  const { library, clock, tell } = deps;
  let connection: PeerConnection | undefined;
  let channel: DataChannel | undefined;
  let [isOpen, hasEnded, hasDescription] = [false, false, false];
  let foreignChannels = 0;

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
  const sender = createSender(() => channel, deps.onSent);
  const candidates = createCandidateOrder(({ candidate, mid }) => connection?.addRemoteCandidate(candidate, mid), tell);
  const connect = (role: 'offer' | 'answer'): PeerConnection => {
    if (connection !== undefined) throw new Error('expected one offer or answer for each peer');
    connection = new library.PeerConnection('', configOf(deps, role));
    channel = listen(connection, guarded, {
      onDescription(sdp) {
        tell({ type: 'described', sdp });
        if (role === 'answer') tell({ type: 'candidate', candidate: loopbackCandidate(deps.port, sdp) });
      },
      onCandidate: (candidate) => candidates.found({ type: 'candidate', candidate }),
      onGathered: () => candidates.found({ type: 'gathered' }),
      onOpen: opened,
      onMessage(message) {
        // Callbacks of different kinds may change places.
        opened();
        if (message.length <= maxMessageBytes) deps.onMessage(message);
        else end('resource_exhausted', tooLong(message.length));
      },
      onQueueLow: sender.report,
      onLost: () => end('unavailable', isOpen ? lost : unreachable),
      onForeignChannel() {
        if (++foreignChannels > maxForeignChannels)
          end('resource_exhausted', 'the other side opened too many channels');
      },
    });
    return connection;
  };
  return {
    offer: () => connect('offer').setLocalDescription('offer'),
    answer(offer) {
      const sdp = letOffererBegin(readSdp(offer));
      const made = connect('answer');
      made.setRemoteDescription(sdp, 'offer');
      hasDescription = true;
      candidates.tell();
      candidates.check();
      made.setLocalDescription('answer');
    },
    accept(answer) {
      const { sdp, candidates: inside } = withoutCandidates(readSdp(answer));
      if (connection === undefined || hasDescription) throw new Error('expected one answer, after an offer');
      for (const candidate of inside) candidates.add(candidate);
      connection.setRemoteDescription(sdp, 'answer');
      hasDescription = true;
      tell({ type: 'described', sdp: '' });
      candidates.tell();
      if (beginsHere(sdp)) clock.after(headStartMs, guarded(candidates.check));
      else candidates.check();
    },
    addCandidate(candidate) {
      if (!hasEnded) candidates.add(candidate);
    },
    send: guarded(sender.send),
    selectedPair() {
      const pair = isOpen ? connection?.getSelectedCandidatePair() : undefined;
      return pair ? pairOf(pair) : undefined;
    },
    end,
  };
}

/** Sends messages, and tells how many bytes have left the queue of the library. */
function createSender(
  channelOf: () => DataChannel | undefined,
  onSent: (bytes: number) => void,
): { readonly send: (message: Buffer) => void; readonly report: () => void } {
  const queue = {
    bufferedAmount: () => channelOf()?.bufferedAmount() ?? 0,
    setThreshold: (bytes: number) => channelOf()?.setBufferedAmountLowThreshold(bytes),
  };
  const { sending, report } = createSentReport(queue, onSent);
  return {
    send(message) {
      sending(message.length);
      channelOf()?.sendMessageBinary(message);
      report();
    },
    report,
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

function readSdp(sdp: string): string {
  if (sdp.length > maxSdpBytes) throw new Error(`expected at most ${maxSdpBytes} bytes, found ${sdp.length}`);
  return checkedSdp(sdp);
}

function tooLong(bytes: number): string {
  return `the other side sent a message of ${bytes} bytes; expected at most ${maxMessageBytes}`;
}

export function textOf(caught: unknown): string {
  return caught instanceof Error ? caught.message : String(caught);
}
