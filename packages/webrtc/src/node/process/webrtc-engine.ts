/**
 * The engine's process: holds the WebRTC library, which may abort it, and all peers of its parent.
 *
 * It is told everything over one pipe (file descriptor 3), and ends with it. Nothing in it is worth keeping. Its argument is the UDP port
 * that peers share; 0: a free one, chosen once.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { systemClock, trimWhenIdle } from '@platform/base';
import type { IceUdpMuxListener } from 'node-datachannel';
import { type Frame, FrameReader, frameKinds, readControl, type ToEngine } from '../frames.ts';
import { createNativePeer, type Library, type NativePeer, textOf } from './native-peer.ts';
import { createParentPipe } from './parent-pipe.ts';

const pipe = new Socket({ fd: 3, readable: true, writable: true });
const parent = createParentPipe(pipe);
const peers = new Map<number, NativePeer>();
/** It would let the port go when it is collected. */
let holder: IceUdpMuxListener | undefined;

// The parent decides: it may still need calls when a terminal tells both to stop.
process.on('SIGINT', () => {});
process.on('SIGTERM', end);
pipe.on('error', end);
pipe.on('close', end);
pipe.on('end', end);

function end(): never {
  for (const peer of peers.values()) peer.end('unavailable', 'the WebRTC engine was stopped');
  // The library's threads would keep the process.
  process.exit(0);
}

function refuse(reason: string, hasLibrary: boolean): void {
  parent.tell(0, { type: 'refused', reason, hasLibrary });
  pipe.end();
}

async function loadLibrary(): Promise<Library | undefined> {
  try {
    return await import('node-datachannel');
  } catch (caught) {
    refuse(textOf(caught), false);
    return undefined;
  }
}

/** A port that is free over IPv4 and IPv6, as the library uses it. */
async function freeUdpPort(): Promise<number> {
  for (const [type, address] of [
    ['udp6', '::'],
    ['udp4', '0.0.0.0'],
  ] as const) {
    const socket = createSocket(type);
    try {
      socket.bind(0, address);
      await once(socket, 'listening');
      return socket.address().port;
    } catch {
      // Without IPv6.
    } finally {
      socket.close();
    }
  }
  throw new Error('no UDP port is free');
}

/** Held as long as the process lives, so that no other program takes it between two peers. */
function holdPort(library: Library, port: number): boolean {
  try {
    holder = new library.IceUdpMuxListener(port);
  } catch {
    refuse(`UDP port ${port} is in use or not allowed`, true);
  }
  return holder !== undefined;
}

async function start(): Promise<void> {
  const library = await loadLibrary();
  if (library === undefined) return;
  const port = Number(process.argv[2] ?? 0) || (await freeUdpPort());
  if (!holdPort(library, port)) return;
  const frames = new FrameReader();
  pipe.on('data', (chunk: Buffer) => {
    for (const frame of frames.read(chunk)) take(frame, library, port);
  });
  parent.tell(0, { type: 'ready' });
}

function take({ kind, peer: number, payload }: Frame, library: Library, port: number): void {
  if (kind === frameKinds.message) {
    peers.get(number)?.send(payload);
    return;
  }
  const message = readControl<ToEngine>(payload);
  if (message.type === 'create') create(number, message, library, port);
  else {
    const peer = peers.get(number);
    if (peer !== undefined) follow(number, peer, message);
  }
}

function create(
  number: number,
  { iceServers }: Extract<ToEngine, { type: 'create' }>,
  library: Library,
  port: number,
): void {
  const waiting = parent.waitingOf(number);
  const peer = createNativePeer({
    ...{ library, port, iceServers, clock: systemClock },
    tell(message) {
      if (message.type === 'ended') peers.delete(number);
      parent.tell(number, message);
    },
    onMessage(message) {
      if (!waiting.pass(message)) peer.end('resource_exhausted', 'messages arrive faster than they are read');
    },
    onSent: (bytes) => parent.sent(number, bytes),
  });
  peers.set(number, peer);
}

function follow(number: number, peer: NativePeer, message: Exclude<ToEngine, { type: 'create' }>): void {
  try {
    if (message.type === 'candidate') peer.addCandidate(message.candidate);
    else if (message.type === 'pair') parent.tell(number, { type: 'pair', pair: peer.selectedPair() });
    else if (message.type === 'close') peer.end('unavailable', 'this side closed the connection');
    else if (message.type === 'offer') peer.offer();
    else peer[message.type](message.sdp);
  } catch (caught) {
    parent.tell(number, { type: 'rejected', reason: textOf(caught) });
  }
}

trimWhenIdle({ clock: systemClock });
await start();
