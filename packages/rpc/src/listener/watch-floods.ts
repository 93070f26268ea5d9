/**
 * Closes HTTP/2 connections that send endless frames without purpose (F19), and those whose client has left in the middle of its calls. Node itself closes floods of PING, SETTINGS, RST_STREAM,
 * PRIORITY, CONTINUATION and empty DATA, but not of WINDOW_UPDATE, and it does not report frames. So this code compares the bytes received
 * with the number that requests, bodies and answers explain.
 */
import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import { type Clock, harmless, type Log } from '@platform/base';
import { windowBytes } from './limits.ts';

/** How often the bytes are compared; a flood is closed at the second check that finds it. */
const checkMs = 5_000;
/**
 * How many checks in a row may find a connection quiet whose client has said that it begins no more calls. Node stops reading a connection
 * that broke the protocol after that, so its end would never be noticed while a call waits for its client.
 */
const quietChecks = 12;
/** Equals 1,000 WINDOW_UPDATE a second: no client needs that much beyond what is explained. */
const maxUnexplainedBytes = 64 * 1024;
/** Allowance for each request: frame headers, TLS records, window updates and acknowledgements of what follows. */
const bytesForEachStream = 256;
/** A chunk of one byte arrives in a frame of ten bytes, in its own TLS record. */
const framingOfData = 40;
/** Clients acknowledge what they receive: twice for each 16 KiB, they send 26 bytes. */
const answerBytesForEach = 64;

interface Seen {
  explained: number;
  read: number;
  written: number;
  /** Consecutive checks that found a flood. */
  floods: number;
  /** Consecutive checks that found no byte, on a connection that begins no more calls. */
  quiet: number;
}

export interface FloodWatch extends Disposable {
  add(session: Http2Session): void;
}

export function watchFloods(clock: Clock, log: Log): FloodWatch {
  const sessions = new Map<Http2Session, Seen>();
  const look = (session: Http2Session, seen: Seen): void => {
    const [read, written] = trafficOf(session);
    const unexplained = read - seen.read - seen.explained - (written - seen.written) / answerBytesForEach;
    seen.floods = unexplained > maxUnexplainedBytes ? seen.floods + 1 : 0;
    seen.quiet = session.closed && read === seen.read && written === seen.written ? seen.quiet + 1 : 0;
    Object.assign(seen, { read, written, explained: 0 });
    if (seen.quiet >= quietChecks) session.destroy();
    if (seen.floods < 2) return;
    log.warn('an HTTP/2 connection was closed: a flood of frames that belong to no call', { bytes: unexplained });
    session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  };
  const lookAtAll = (): void => {
    for (const [session, seen] of sessions) if (!session.destroyed) look(session, seen);
  };
  const timer = clock.every(checkMs, harmless(lookAtAll));
  return {
    add(session) {
      const seen = { explained: maxUnexplainedBytes, read: 0, written: 0, floods: 0, quiet: 0 };
      sessions.set(session, seen);
      session.once('close', () => sessions.delete(session));
      session.on('stream', (stream: ServerHttp2Stream, headers) => {
        seen.explained += bytesForEachStream + headerBytes(headers);
        countData(stream, seen);
      });
    },
    [Symbol.dispose]: () => timer[Symbol.dispose](),
  };
}

function headerBytes(headers: Readonly<Record<string, unknown>>): number {
  let bytes = 0;
  for (const name in headers) bytes += name.length + String(headers[name]).length;
  return bytes;
}

/** Counts at the entry to the stream's buffer, because listeners for `data` would take the body from its reader. */
function countData(stream: ServerHttp2Stream, seen: Seen): void {
  if (stream.endAfterHeaders) return;
  const push = stream.push;
  stream.push = (chunk: Uint8Array | null, encoding) => {
    if (chunk !== null) seen.explained += 2 * chunk.length + framingOfData;
    return push.call(stream, chunk, encoding);
  };
  stream.once('close', () => {
    // Data in flight to a closed stream reaches no reader.
    if (!stream.readableEnded) seen.explained += windowBytes;
  });
}

/** Bytes of the connection in both directions; zero when its socket is gone. */
function trafficOf(session: Http2Session): [read: number, written: number] {
  try {
    return [session.socket.bytesRead, session.socket.bytesWritten];
  } catch {
    return [0, 0];
  }
}
