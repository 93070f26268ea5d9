/** The engine for browsers: the RTCPeerConnection that they have. */
import type { Clock } from '@platform/base';
import { asPlatformError, type PlatformError } from '@platform/base/errors';
import { failedPrecondition, invalidArgument, resourceExhausted, unavailable } from '@platform/base/refusals';
import { maxSdpBytes } from '../limits.ts';
import type { Candidate, Engine, Peer, PeerOptions } from '../peer.ts';
import { createPeerState } from '../peer-state.ts';
import { createSentReport } from '../sent-report.ts';
import type { RtcChannel, RtcConnection, RtcConnectionClass } from './rtc-types.ts';
import { selectedPairOf } from './selected-pair.ts';

export interface BrowserEngineDeps {
  readonly clock: Clock;
  /** Default: that of the browser. */
  readonly connectionClass?: RtcConnectionClass | undefined;
}

export function createEngine({ clock, connectionClass = ofBrowser() }: BrowserEngineDeps): Engine {
  const peers = new Set<Peer>();
  let isDisposed = false;
  return {
    isMissing: connectionClass === undefined,
    async createPeer(options) {
      if (isDisposed) throw failedPrecondition('the WebRTC engine was closed');
      if (connectionClass === undefined)
        throw unavailable('this browser has no WebRTC (RTCPeerConnection): calls go through the cloud');
      const peer = openPeer(connect(connectionClass, options), clock);
      peers.add(peer);
      peer.ended.addEventListener('abort', () => peers.delete(peer), { once: true });
      return peer;
    },
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      await Promise.all([...peers].map((peer) => peer[Symbol.asyncDispose]()));
    },
  };
}

function ofBrowser(): RtcConnectionClass | undefined {
  // Where the types of browsers are known, theirs differs from what is used of it.
  return (globalThis as unknown as { RTCPeerConnection?: RtcConnectionClass }).RTCPeerConnection;
}

/** @throws invalid_argument about the servers */
function connect(connectionClass: RtcConnectionClass, { iceServers }: PeerOptions): RtcConnection {
  try {
    return new connectionClass({
      iceServers: iceServers.map(({ urls, username, credential }) => ({
        urls: [...urls],
        ...(username !== undefined && { username }),
        ...(credential !== undefined && { credential }),
      })),
    });
  } catch (caught) {
    throw invalidArgument('expected servers for STUN and TURN that this browser can use', caught);
  }
}

function openPeer(connection: RtcConnection, clock: Clock): Peer {
  const channel = connection.createDataChannel('data', { negotiated: true, id: 0 });
  connection.createDataChannel('negotiation', { negotiated: true, id: 1 });
  const report = createSentReport(
    {
      bufferedAmount: () => channel.bufferedAmount,
      setThreshold(bytes) {
        channel.bufferedAmountLowThreshold = bytes;
      },
    },
    (bytes) => state.channel.sent(bytes),
  );
  const state = createPeerState({
    clock,
    send(message) {
      report.sending(message.length);
      try {
        channel.send(message);
        report.report();
      } catch (caught) {
        state.end(resourceExhausted('the browser did not take a message', caught));
      }
    },
    onEnd: () => connection.close(),
  });
  listen(connection, channel, state);
  channel.onbufferedamountlow = report.report;

  const early: Candidate[] = [];
  let hasDescription = false;
  const describe = async (sdp: string, type: 'offer' | 'answer'): Promise<void> => {
    await readable(state, async () => {
      if (sdp.length > maxSdpBytes) throw new Error(`expected at most ${maxSdpBytes} bytes, found ${sdp.length}`);
      await connection.setRemoteDescription({ type, sdp });
    });
    hasDescription = true;
    for (const candidate of early.splice(0)) use(candidate);
  };
  const use = ({ candidate, mid }: Candidate): void => {
    connection.addIceCandidate({ candidate, sdpMid: mid }).catch(() => {});
  };
  return {
    offer: () => readable(state, async () => sent(connection, await connection.createOffer())),
    async answer(offer) {
      await describe(offer, 'offer');
      return readable(state, async () => sent(connection, await connection.createAnswer()));
    },
    accept: (answer) => describe(answer, 'answer'),
    addCandidate(candidate) {
      if (state.ended.aborted) return;
      if (hasDescription) use(candidate);
      else if (early.length < maxEarlyCandidates) early.push(candidate);
    },
    candidates: state.candidates,
    opened: state.opened,
    ended: state.ended,
    selectedPair: async () => (state.isOpen ? selectedPairOf((await connection.getStats()).values()) : undefined),
    async [Symbol.asyncDispose]() {
      state.channel.close();
    },
  };
}

/** More than any computer has. */
const maxEarlyCandidates = 64;

/** Tells the state what happens to the connection. */
function listen(connection: RtcConnection, channel: RtcChannel, state: ReturnType<typeof createPeerState>): void {
  channel.binaryType = 'arraybuffer';
  channel.onopen = () => state.open();
  channel.onmessage = ({ data }) =>
    state.channel.receive(data instanceof ArrayBuffer ? new Uint8Array(data) : new TextEncoder().encode(String(data)));
  channel.onclose = () => state.end(unavailable('the other side closed the connection'));
  channel.onerror = () => state.end(unavailable('the other side closed the connection, or it was lost'));
  connection.onicecandidate = ({ candidate }) => {
    // Some browsers say by an empty one that there are no more.
    if (candidate === null) state.candidates.complete();
    else if (candidate.candidate !== '')
      state.candidates.add({ candidate: candidate.candidate, mid: candidate.sdpMid ?? '0' });
  };
  const look = (): void => {
    const states = [connection.connectionState, connection.iceConnectionState];
    if (!states.some((one) => ['disconnected', 'failed', 'closed'].includes(one))) return;
    state.end(
      unavailable(
        state.isOpen ? 'the other side closed the connection, or it was lost' : 'the other side could not be reached',
      ),
    );
  };
  connection.onconnectionstatechange = look;
  connection.oniceconnectionstatechange = look;
}

/** What `run` returns; if it fails, the peer ends. @throws invalid_argument, or how the peer ended */
async function readable<Result>(
  state: ReturnType<typeof createPeerState>,
  run: () => Promise<Result>,
): Promise<Result> {
  if (state.ended.aborted) throw asPlatformError(state.ended.reason);
  try {
    return await run();
  } catch (caught) {
    const text = caught instanceof Error ? caught.message : String(caught);
    state.end(invalidArgument(`SDP: ${text}`));
    throw state.ended.reason as PlatformError;
  }
}

/** Sets a description of this side, and returns its SDP. */
async function sent(
  connection: RtcConnection,
  description: { readonly type: string; readonly sdp?: string | undefined },
): Promise<string> {
  await connection.setLocalDescription(description);
  return description.sdp ?? '';
}
