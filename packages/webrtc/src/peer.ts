/**
 * The engine port: what the platform needs of a WebRTC implementation. node/ implements it over node-datachannel in a child process, and
 * browser/ over the browser's RTCPeerConnection.
 *
 * A peer has two pre-negotiated, ordered channels: `data` (id 0) for calls, and `negotiation` (id 1), which public clients expect.
 */
import type { MessageChannel } from '@platform/rpc/channel';

export interface IceServer {
  readonly urls: readonly string[];
  readonly username?: string | undefined;
  readonly credential?: string | undefined;
}

export interface Candidate {
  /** `candidate:…`, without `a=`. */
  readonly candidate: string;
  readonly mid: string;
}

/** The kind of the address in use at one end. `prflx` counts as the kind of the address that it was seen through. */
export type CandidateKind = 'host' | 'stun' | 'relay';

export interface SelectedPair {
  readonly local: CandidateKind;
  readonly remote: CandidateKind;
  /** `address:port` of the other end. */
  readonly remoteAddress: string;
}

export interface PeerOptions {
  readonly iceServers: readonly IceServer[];
}

/** One connection, and the one attempt to make it: either `offer` and `accept`, or `answer`. */
export interface Peer extends AsyncDisposable {
  /** Begins a connection, and returns the SDP of this side. It need not hold candidates. */
  offer(): Promise<string>;
  /** Takes the SDP of an offer, and returns that of the answer. @throws invalid_argument if it cannot be read; the peer has then ended */
  answer(offer: string): Promise<string>;
  /** Takes the SDP of the answer to `offer`. @throws invalid_argument */
  accept(answer: string): Promise<void>;
  /** One that cannot be used is ignored. */
  addCandidate(candidate: Candidate): void;
  /**
   * The candidates of this side; ends when all are known. They should reach the other side at once. Of a side that offers, they follow only
   * when `accept` has read the answer.
   */
  readonly candidates: AsyncIterable<Candidate>;
  /** The channel `data`, once it is open; rejects with a PlatformError if the connection fails first. */
  readonly opened: Promise<MessageChannel>;
  /** Aborts when the connection has ended, or could not be made; the reason is a PlatformError. */
  readonly ended: AbortSignal;
  /** Undefined before the connection is open. */
  selectedPair(): Promise<SelectedPair | undefined>;
}

export interface Engine extends AsyncDisposable {
  /** Whether it is known that this computer has no engine: every call of `createPeer` fails. */
  readonly isMissing: boolean;
  /**
   * Starts the engine if it does not run. The peer ends by itself if it is not open 20 s later.
   *
   * @throws unavailable if there is none for this computer, or it cannot start; resource_exhausted if it has too many peers
   */
  createPeer(options: PeerOptions): Promise<Peer>;
}
