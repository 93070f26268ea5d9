/** WebRTC connections in Node. */
export type { Candidate, CandidateKind, Engine, IceServer, Peer, PeerOptions, SelectedPair } from './peer.ts';
