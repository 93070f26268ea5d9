/** WebRTC connections in browsers. */
export { type BrowserEngineDeps, createEngine } from './browser/create-engine.ts';
export type { Candidate, CandidateKind, Engine, IceServer, Peer, PeerOptions, SelectedPair } from './peer.ts';
export type { Connection, Path, PathChange, Reached } from './reach/path.ts';
export { type ReachOptions, reach, type WantedPath, withFixedHeaders } from './reach/reach.ts';
export { type ReachMachineWebOptions, reachMachine } from './reach/reach-machine-web.ts';
export { type ResumeOptions, resumeStream } from './reach/resume-stream.ts';
export { createSession, type Session } from './reach/session.ts';
export { type Dialed, type DialOptions, dial } from './signaling/dial.ts';
