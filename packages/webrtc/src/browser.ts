/** WebRTC connections in browsers. */
export { type BrowserEngineDeps, createEngine } from './browser/create-engine.ts';
export type { Candidate, CandidateKind, Engine, IceServer, Peer, PeerOptions, SelectedPair } from './peer.ts';
export { type Dialed, type DialOptions, dial } from './signaling/dial.ts';
