/**
 * Refuses a message over the limit as soon as its length is known, and flags that its protocol does not define, with our own errors. The
 * codecs apply their limits later.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { invalidArgument } from '@platform/base';
import { toConnectError } from '../core/errors.ts';
import { messageTooLarge } from '../core/message-too-large.ts';
import { Pieces } from '../core/pieces.ts';

/** Flags and length that precede each message of gRPC, gRPC-Web and streaming Connect. */
const prefixBytes = 5;

/** Compressed, in all protocols; the end of a stream in Connect; trailers in gRPC-Web. */
const knownFlags = { grpc: 0x01, connect: 0x03, web: 0x81 };

export interface Messages {
  /** A message has begun but not ended yet. */
  begun: boolean;
}

/**
 * Passes the body on unchanged. Messages with a length prefix arrive whole, because codecs copy a partial message again with each further
 * piece. Throws invalid_argument or resource_exhausted, before reading a byte if the headers suffice.
 *
 * @param maxBytes of one message as sent. @param messages kept up to date.
 */
export function limitBody(
  body: AsyncIterable<Uint8Array>,
  headers: IncomingHttpHeaders,
  maxBytes: number,
  messages: Messages,
): AsyncIterable<Uint8Array> {
  return isEnveloped(headers)
    ? limitEnvelopes(body, {
        flags: flagsOf(headers),
        maxBytes,
        messages,
        tooLarge: (found) => tooLarge(maxBytes, found),
      })
    : limitTotal(body, Number(headers['content-length'] ?? 0), maxBytes);
}

/** Whether each message in the body is preceded by its length. */
export function isEnveloped(headers: IncomingHttpHeaders): boolean {
  return /^application\/(grpc|connect\+)/i.test(headers['content-type'] ?? '');
}

async function* limitTotal(
  body: AsyncIterable<Uint8Array>,
  announced: number,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void> {
  if (announced > maxBytes) throw toConnectError(messageTooLarge(maxBytes, `${announced}`));
  let found = 0;
  for await (const chunk of body) {
    found += chunk.length;
    if (found > maxBytes) throw toConnectError(messageTooLarge(maxBytes, 'more'));
    yield chunk;
  }
}

function flagsOf(headers: IncomingHttpHeaders): number {
  const contentType = headers['content-type'] ?? '';
  if (/^application\/connect/i.test(contentType)) return knownFlags.connect;
  return /^application\/grpc-web/i.test(contentType) ? knownFlags.web : knownFlags.grpc;
}

export interface EnvelopeLimits {
  /** The flags that the protocol defines. */
  readonly flags: number;
  readonly maxBytes: number;
  /** Kept up to date. */
  readonly messages: Messages;
  readonly tooLarge: (found: number) => Error;
}

/** The body, cut so that messages arrive whole. */
export async function* limitEnvelopes(
  body: AsyncIterable<Uint8Array>,
  { flags, maxBytes, messages, tooLarge }: EnvelopeLimits,
): AsyncGenerator<Uint8Array, void> {
  let prefix = 0;
  let length = 0;
  let message = 0;
  let held = new Pieces();
  for await (const chunk of body) {
    /** The end of the last message that ends in this chunk. */
    let whole = 0;
    for (let at = 0; at < chunk.length; ) {
      if (prefix < prefixBytes) {
        // The first of the five bytes holds flags, the others the length.
        const byte = chunk[at] ?? 0;
        if (prefix > 0) length = length * 256 + byte;
        else if ((byte & ~flags) !== 0) throw unknownFlags(byte);
        prefix++;
        at++;
        if (prefix === prefixBytes && length > maxBytes) throw tooLarge(length);
      } else {
        const rest = Math.min(length - message, chunk.length - at);
        message += rest;
        at += rest;
      }
      if (prefix === prefixBytes && message === length) {
        prefix = length = message = 0;
        whole = at;
      }
    }
    messages.begun = prefix > 0;
    if (whole > 0) {
      held.add(chunk.subarray(0, whole));
      yield held.joined();
      held = new Pieces();
    }
    if (whole < chunk.length) held.add(chunk.subarray(whole));
  }
  // The codec refuses a body that ends within a message.
  if (held.bytes > 0) yield held.joined();
}

function tooLarge(maxBytes: number, found: number): Error {
  return toConnectError(messageTooLarge(maxBytes, `${found}`));
}

function unknownFlags(found: number): Error {
  const text = `expected the flags of a message as its first byte, found 0x${found.toString(16).padStart(2, '0')}`;
  return toConnectError(invalidArgument(text));
}
