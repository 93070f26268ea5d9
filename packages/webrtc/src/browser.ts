/** WebRTC connections in browsers. */
export type { Candidate, CandidateKind, Engine, IceServer, Peer, PeerOptions, SelectedPair } from './peer.ts';
export { type Dialed, type DialOptions, dial } from './signaling/dial.ts';
