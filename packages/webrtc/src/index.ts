/** WebRTC connections in Node. */
export { createEngine, type EngineDeps, type NodeEngine } from './node/create-engine.ts';
export type { Candidate, CandidateKind, Engine, IceServer, Peer, PeerOptions, SelectedPair } from './peer.ts';
export { acceptOffer } from './signaling/accept-offer.ts';
export { type AnswerDeps, type AnsweredPeer, answerCallers } from './signaling/answer.ts';
export { readCandidate, writeCandidate } from './signaling/description.ts';
export { type Dialed, type DialOptions, dial } from './signaling/dial.ts';
