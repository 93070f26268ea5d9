/**
 * Closes HTTP/2 connections that send frames without an end and without a purpose (F19). Node itself closes floods of PING,
 * SETTINGS, RST_STREAM, PRIORITY, CONTINUATION and empty DATA, but not of WINDOW_UPDATE, and tells no one of frames: so the bytes that
 * came are compared with those that requests, bodies and answers explain.
 */
import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import type { Clock, Log } from '@platform/base';
import { windowBytes } from './limits.ts';

/** How often it is compared; a flood is closed at its second look. */
const checkMs = 5_000;
/** 1,000 WINDOW_UPDATE a second: no client needs that for what is not explained. */
const maxUnexplainedBytes = 64 * 1024;
/** Around each request: frame headers, TLS records, window updates and acknowledgements of what follows. */
const bytesForEachStream = 256;
/** A chunk of one byte comes in a frame of ten bytes, and in a TLS record of its own. */
const framingOfData = 40;
/** Clients acknowledge what they got; twice for each 16 KiB, they say 26 bytes. */
const answerBytesForEach = 64;

interface Seen {
  explained: number;
  read: number;
  written: number;
  /** Looks in a row that found a flood. */
  floods: number;
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
    Object.assign(seen, { read, written, explained: 0 });
    if (seen.floods < 2) return;
    log.warn('an HTTP/2 connection was closed: a flood of frames that belong to no call', { bytes: unexplained });
    session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  };
  const timer = clock.every(checkMs, () => {
    for (const [session, seen] of sessions) if (!session.destroyed) look(session, seen);
  });
  return {
    add(session) {
      const seen = { explained: maxUnexplainedBytes, read: 0, written: 0, floods: 0 };
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

/** Listeners for `data` would take the body from its reader, so the way into the stream's buffer is watched. */
function countData(stream: ServerHttp2Stream, seen: Seen): void {
  if (stream.endAfterHeaders) return;
  const push = stream.push;
  stream.push = (chunk: Uint8Array | null, encoding) => {
    if (chunk !== null) seen.explained += 2 * chunk.length + framingOfData;
    return push.call(stream, chunk, encoding);
  };
  stream.once('close', () => {
    // What was under way to a stream that is closed reaches no one.
    if (!stream.readableEnded) seen.explained += windowBytes;
  });
}

/** Bytes of the connection, both ways; none when its socket is gone. */
function trafficOf(session: Http2Session): [read: number, written: number] {
  try {
    return [session.socket.bytesRead, session.socket.bytesWritten];
  } catch {
    return [0, 0];
  }
}
