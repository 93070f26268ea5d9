/** The side of the caller: reaches a machine by its name through a signaling server. No Node: browsers load this file. */
import type { Clock } from '@platform/base/clock';
import { deadlineExceeded, unavailable } from '@platform/base/refusals';
import type { CallResponse, SignalingService } from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import type { MessageChannel } from '@platform/rpc/channel';
import type { Client } from '@platform/rpc/client';
import type { Engine, IceServer, Peer } from '../peer.ts';
import { iceServersIn, readCandidate, readDescription, writeCandidate, writeDescription } from './description.ts';

export interface DialOptions {
  /** Of the cloud, or of the machine itself. */
  readonly signaling: Client<typeof SignalingService>;
  /** The name of the machine, sent as `rpc-host`. */
  readonly host: string;
  readonly engine: Engine;
  /** Besides those that the signaling server names. Default: none. */
  readonly iceServers?: readonly IceServer[];
  /** Until the connection is open. Default 10 s. */
  readonly timeoutMs?: number;
  readonly clock: Pick<Clock, 'after'>;
  readonly signal?: AbortSignal | undefined;
}

export interface Dialed {
  readonly peer: Peer;
  readonly channel: MessageChannel;
}

/**
 * Connects to the machine.
 *
 * @throws unimplemented if the machine is reached without WebRTC; not_found if it is offline; permission_denied, unauthenticated;
 * unavailable, deadline_exceeded if no connection could be made
 */
export async function dial(options: DialOptions): Promise<Dialed> {
  const { signaling, host, engine, iceServers = [], timeoutMs = 10_000, clock } = options;
  const over = new AbortController();
  using _timer = clock.after(timeoutMs, () =>
    over.abort(deadlineExceeded(`${host} could not be reached over WebRTC within ${timeoutMs} ms`)),
  );
  const signal = options.signal === undefined ? over.signal : AbortSignal.any([over.signal, options.signal]);
  const call = { headers: { 'rpc-host': host }, signal };
  const { config } = await signaling.optionalWebRTCConfig({}, call);
  const peer = await engine.createPeer({ iceServers: [...iceServers, ...iceServersIn(config)] });
  try {
    return { peer, channel: await connect(peer, { signaling, call }) };
  } catch (caught) {
    await peer[Symbol.asyncDispose]();
    throw over.signal.aborted ? over.signal.reason : caught;
  }
}

interface Connecting {
  readonly signaling: Client<typeof SignalingService>;
  readonly call: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal };
}

async function connect(peer: Peer, { signaling, call }: Connecting): Promise<MessageChannel> {
  const { signal } = call;
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {});
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  const sdp = writeDescription('offer', await peer.offer());
  const answers = signaling.call({ sdp }, { ...call, timeoutMs: 0 });
  const signals = follow(peer, answers, (uuid) => {
    sendCandidates(peer, uuid, { signaling, call }).catch(() => {});
  });
  signals.catch(reject);
  return Promise.race([peer.opened, failed]);
}

/** Returns when the machine has nothing more to say. @param onAnswer called with the id of the attempt, once the machine has answered */
async function follow(
  peer: Peer,
  answers: AsyncIterable<CallResponse>,
  onAnswer: (uuid: string) => void,
): Promise<void> {
  let isAnswered = false;
  for await (const { uuid, stage } of answers) {
    if (stage.case === 'init' && !isAnswered) {
      isAnswered = true;
      await peer.accept(readDescription('answer', stage.value.sdp));
      onAnswer(uuid);
    } else if (stage.case === 'update' && stage.value.candidate !== undefined)
      peer.addCandidate(readCandidate(stage.value.candidate));
  }
  if (!isAnswered) throw unavailable('the machine has not answered the offer of a connection');
}

/** The attempt is known to the server only once the machine has answered; candidates found earlier wait until then. */
async function sendCandidates(peer: Peer, uuid: string, { signaling, call }: Connecting): Promise<void> {
  for await (const candidate of peer.candidates) {
    const value = writeCandidate(candidate);
    await signaling.callUpdate({ uuid, update: { case: 'candidate', value } } as never, call);
  }
  await signaling.callUpdate({ uuid, update: { case: 'done', value: true } }, call);
}
