/** Refuses a message over the limit as soon as its length is known, in a sentence of ours; the codecs' own limits are behind it. */
import type { IncomingHttpHeaders } from 'node:http';
import { toConnectError } from '../core/errors.ts';
import { messageTooLarge } from '../core/message-too-large.ts';

/** Flags and length, before each message of gRPC, gRPC-Web and streaming Connect. */
const prefixBytes = 5;

/** The body unchanged. Throws resource_exhausted, before a byte is read when the headers tell. @param maxBytes of one message as it is sent. */
export function limitBody(
  body: AsyncIterable<Uint8Array>,
  headers: IncomingHttpHeaders,
  maxBytes: number,
): AsyncIterable<Uint8Array> {
  return isEnveloped(headers)
    ? limitEnvelopes(body, maxBytes)
    : limitTotal(body, Number(headers['content-length'] ?? 0), maxBytes);
}

/** Each message of the body stands behind its length. */
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

async function* limitEnvelopes(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array, void> {
  let prefix = 0;
  let length = 0;
  let message = 0;
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; ) {
      if (prefix < prefixBytes) {
        // The first of the five bytes holds flags, the others the length.
        if (prefix > 0) length = length * 256 + (chunk[at] ?? 0);
        prefix++;
        at++;
        if (prefix === prefixBytes && length > maxBytes) throw toConnectError(messageTooLarge(maxBytes, `${length}`));
      } else {
        const rest = Math.min(length - message, chunk.length - at);
        message += rest;
        at += rest;
      }
      if (prefix === prefixBytes && message === length) prefix = length = message = 0;
    }
    yield chunk;
  }
}
