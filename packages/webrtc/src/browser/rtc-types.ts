/** Of WebRTC in browsers, what the engine uses: our sources have no types of browsers. */

export interface RtcChannel {
  binaryType: string;
  readonly bufferedAmount: number;
  bufferedAmountLowThreshold: number;
  onopen: (() => void) | null;
  onclose: (() => void) | null;
  onerror: (() => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onbufferedamountlow: (() => void) | null;
  send(message: Uint8Array): void;
}

export interface RtcDescription {
  readonly type: string;
  readonly sdp?: string | undefined;
}

export interface RtcCandidate {
  readonly candidate: string;
  readonly sdpMid: string | null;
}

/** A row of its statistics; rows of other types have other fields. */
export interface RtcStats {
  readonly id: string;
  readonly type: string;
  readonly selectedCandidatePairId?: string;
  readonly nominated?: boolean;
  readonly state?: string;
  readonly localCandidateId?: string;
  readonly remoteCandidateId?: string;
  readonly candidateType?: string;
  readonly address?: string | null;
  readonly port?: number | null;
}

export interface RtcConnection {
  readonly connectionState: string;
  readonly iceConnectionState: string;
  onicecandidate: ((event: { readonly candidate: RtcCandidate | null }) => void) | null;
  onconnectionstatechange: (() => void) | null;
  oniceconnectionstatechange: (() => void) | null;
  createDataChannel(label: string, options: { readonly negotiated: true; readonly id: number }): RtcChannel;
  createOffer(): Promise<RtcDescription>;
  createAnswer(): Promise<RtcDescription>;
  setLocalDescription(description: RtcDescription): Promise<void>;
  setRemoteDescription(description: RtcDescription): Promise<void>;
  addIceCandidate(candidate: RtcCandidate): Promise<void>;
  getStats(): Promise<{ values(): Iterable<RtcStats> }>;
  close(): void;
}

export type RtcConnectionClass = new (options: {
  readonly iceServers: readonly {
    readonly urls: string[];
    readonly username?: string;
    readonly credential?: string;
  }[];
}) => RtcConnection;
