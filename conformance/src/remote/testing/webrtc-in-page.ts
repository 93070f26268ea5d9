/** What a page of the tests loads: the engine for browsers, and what a test does with one peer of it. */
import { systemClock } from '@platform/base/clock';
import { type Candidate, createEngine, type Peer, type SelectedPair } from '@platform/webrtc/browser';

const engine = createEngine({ clock: systemClock });
const candidates: Candidate[] = [];
let peer: Peer;

async function collect(): Promise<void> {
  for await (const candidate of peer.candidates) candidates.push(candidate);
}

async function open(): Promise<void> {
  peer = await engine.createPeer({ iceServers: [] });
  void collect();
}

export async function offer(): Promise<string> {
  await open();
  return peer.offer();
}

export async function answer(sdp: string): Promise<string> {
  await open();
  return peer.answer(sdp);
}

export function accept(sdp: string): Promise<void> {
  return peer.accept(sdp);
}

export function add(candidate: Candidate): void {
  peer.addCandidate(candidate);
}

/** Those that are known. */
export function known(): readonly Candidate[] {
  return candidates;
}

/** Answers each message with its bytes in reverse order. @returns the pair in use */
export async function echo(): Promise<SelectedPair | undefined> {
  const channel = await peer.opened;
  channel.onMessage = (message) => channel.send(message.toReversed());
  return peer.selectedPair();
}

/** Sends so many bytes in messages of 16 KiB. @returns the most that waited */
export async function flood(bytes: number): Promise<number> {
  const channel = await peer.opened;
  let most = 0;
  for (let sent = 0; sent < bytes; sent += 16_384) {
    await channel.drained();
    channel.send(new Uint8Array(16_384));
    most = Math.max(most, channel.bufferedBytes);
  }
  return most;
}

/** The code of the reason, once it has ended. */
export async function ended(): Promise<string> {
  if (!peer.ended.aborted)
    await new Promise((resolve) => peer.ended.addEventListener('abort', resolve, { once: true }));
  return (peer.ended.reason as { readonly code: string }).code;
}

/** The code with which it refuses a description. */
export async function refusal(sdp: string): Promise<string> {
  const other = await engine.createPeer({ iceServers: [] });
  return other.answer(sdp).then(
    () => 'none',
    (caught: { readonly code: string }) => caught.code,
  );
}
