/** WebRTC connections in Node. */
export { createEngine, type EngineDeps, type NodeEngine } from './node/create-engine.ts';
export type { Candidate, CandidateKind, Engine, IceServer, Peer, PeerOptions, SelectedPair } from './peer.ts';
export type { Connection, Path, PathChange, Reached } from './reach/path.ts';
export { type ReachOptions, reach, type WantedPath, withFixedHeaders } from './reach/reach.ts';
export { type ReachMachineOptions, reachMachine } from './reach/reach-machine.ts';
export { type ResumeOptions, resumeStream } from './reach/resume-stream.ts';
export { createSession, type Session } from './reach/session.ts';
export { acceptOffer } from './signaling/accept-offer.ts';
export { type AnswerDeps, type AnsweredPeer, answerCallers } from './signaling/answer.ts';
export { readCandidate, writeCandidate } from './signaling/description.ts';
export { type Dialed, type DialOptions, dial } from './signaling/dial.ts';
