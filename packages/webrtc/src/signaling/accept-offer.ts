/** Begins a connection on the side of the machine. */
import type { Engine, IceServer, Peer } from '../peer.ts';
import { readDescription, writeDescription } from './description.ts';

/**
 * @param offer as signaling sends it. @returns the answer likewise
 * @throws invalid_argument if it cannot be read; resource_exhausted, unavailable from the engine
 */
export async function acceptOffer(
  engine: Engine,
  offer: string,
  iceServers: readonly IceServer[],
): Promise<{ readonly peer: Peer; readonly answer: string }> {
  const sdp = readDescription('offer', offer);
  const peer = await engine.createPeer({ iceServers });
  try {
    return { peer, answer: writeDescription('answer', await peer.answer(sdp)) };
  } catch (caught) {
    await peer[Symbol.asyncDispose]();
    throw caught;
  }
}
