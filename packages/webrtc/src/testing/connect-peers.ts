/** Engines for tests, as users run them, and peers of them that find each other. */
import { pathToFileURL } from 'node:url';
import { silentLog, systemClock } from '@platform/base';
import type { MessageChannel } from '@platform/rpc/channel';
import { program } from '../../../../tools/bundles/program.ts';
import { createEngine, type EngineDeps, type NodeEngine } from '../node/create-engine.ts';
import type { Candidate, Engine, Peer } from '../peer.ts';

export function startTestEngine(options: Partial<EngineDeps> = {}): NodeEngine {
  const engineProgram = pathToFileURL(program('webrtc-engine'));
  return createEngine({ clock: systemClock, log: silentLog, program: engineProgram, ...options });
}

export interface Connected {
  readonly caller: Peer;
  readonly callee: Peer;
  readonly ofCaller: MessageChannel;
  readonly ofCallee: MessageChannel;
}

/** Connects a peer of each, as signaling does: candidates are passed on as they become known. */
export async function connectPeers(callerEngine: Engine, calleeEngine: Engine): Promise<Connected> {
  const [caller, callee] = await Promise.all([
    callerEngine.createPeer({ iceServers: [] }),
    calleeEngine.createPeer({ iceServers: [] }),
  ]);
  const answer = await callee.answer(await caller.offer());
  const passed = [passCandidates(caller, callee), passCandidates(callee, caller)];
  await caller.accept(answer);
  const [ofCaller, ofCallee] = await Promise.all([caller.opened, callee.opened]);
  await Promise.all(passed);
  return { caller, callee, ofCaller, ofCallee };
}

/** All of them, once they are known. */
export async function candidatesOf(peer: Peer): Promise<Candidate[]> {
  const all: Candidate[] = [];
  for await (const candidate of peer.candidates) all.push(candidate);
  return all;
}

async function passCandidates(from: Peer, to: Peer): Promise<void> {
  for await (const candidate of from.candidates) to.addCandidate(candidate);
}

/** The code and the text of the reason, once the signal is aborted. */
export async function reasonOf(signal: AbortSignal): Promise<{ code: string; message: string }> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  const { code, message } = signal.reason as { code: string; message: string };
  return { code, message };
}
