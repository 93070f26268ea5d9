/**
 * Reads the body of a request: complete, in time and within its limit, or not at all.
 *
 * Node ends an HTTP/2 body in the same way whether the client ended its stream or cut it, and the call's signal is aborted only later. So
 * this code checks at the end of the body which of the two it was. What it throws crosses the codecs untouched.
 */
import { constants } from 'node:http2';
import { ConnectError } from '@connectrpc/connect';
import { type Clock, PlatformError } from '@platform/base';
import type { BytesField } from '../core/binding.ts';
import { fromConnectError, toConnectError } from '../core/errors.ts';
import { bodyRead } from './body-read.ts';
import { isEnveloped, limitBody } from './limit-body.ts';
import { slowBodyMs } from './limits.ts';
import type { NodeRequest, NodeResponse } from './node-types.ts';
import { paced } from './pace.ts';
import { roundTrip } from './round-trip.ts';
import { splitMessages } from './split-messages.ts';
import { endUnreadBody, watchedByReader } from './unread-bodies.ts';

export interface ReadBodyOptions {
  /** Used in error messages. */
  readonly path: string;
  /** Limit for one message. */
  readonly maxMessageBytes: number;
  /** Where a large message is split. */
  readonly splitAt: BytesField | undefined;
  /** The request is a single message, not a stream. */
  readonly one: boolean;
  /** The client may be quiet between messages, because it receives answers meanwhile. */
  readonly quiet: boolean;
  /** A body that stalls or trickles is ended within twice this time. */
  readonly slowBodyMs: number;
  readonly clock: Clock;
}

/** Throws canceled (the client cut it), deadline_exceeded (it stalls or trickles) or resource_exhausted (a message is too large). */
export function readBody(
  request: NodeRequest,
  response: NodeResponse,
  { path, maxMessageBytes, splitAt, one, quiet, slowBodyMs, clock }: ReadBodyOptions,
): AsyncIterable<Uint8Array> {
  const whole = 'stream' in response ? bodyRead.get(response.stream) : undefined;
  const messages = { begun: false };
  if (whole !== undefined) return limitBody(once(whole), request.headers, maxMessageBytes, messages);
  const moving = paced(readWhole(request, response, path, one), {
    path,
    slowBodyMs,
    clock,
    owed: () => !quiet || messages.begun,
    onSlow: () => endAfterAnswer(response),
  });
  const { headers } = request;
  const split = splitAt === undefined ? moving : splitMessages(moving, headers, splitAt);
  return limitBody(split, headers, maxMessageBytes, messages);
}

/**
 * The body of a route of plain HTTP, of any length: complete and in time, or not at all. Throws canceled or deadline_exceeded.
 *
 * @param path used in error messages
 */
export function readLongBody(
  request: NodeRequest,
  response: NodeResponse,
  { path, clock }: { readonly path: string; readonly clock: Clock },
): AsyncIterable<Uint8Array> {
  watchedByReader(request);
  const answered = 'stream' in response ? response.stream : response;
  answered.once('finish', () => endUnreadBody(request, slowBodyMs, clock));
  return interpreted(
    paced(readWhole(request, response, path, false), {
      ...{ path, slowBodyMs, clock },
      owed: () => true,
      onSlow: () => endAfterAnswer(response),
    }),
  );
}

/** Converts errors for routes, which have no codec to interpret them. */
async function* interpreted(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body;
  } catch (caught) {
    throw caught instanceof ConnectError ? fromConnectError(caught) : caught;
  }
}

async function* once(whole: Uint8Array): AsyncGenerator<Uint8Array, void> {
  if (whole.length > 0) yield whole;
}

async function* readWhole(
  request: NodeRequest,
  response: NodeResponse,
  path: string,
  one: boolean,
): AsyncGenerator<Uint8Array, void> {
  const stream = 'stream' in request ? request.stream : undefined;
  // A codec that stops reading must still be able to answer, so abandoning the body does not destroy the request.
  const chunks = request.iterator({ destroyOnReturn: false });
  let found = 0;
  let ended = false;
  try {
    for (;;) {
      const next: IteratorResult<Uint8Array> = await chunks.next().catch((caught: unknown) => {
        ended = true;
        throw cutBody(path, found, caught);
      });
      if (next.done === true) break;
      found += next.value.length;
      yield next.value;
    }
    ended = true;
    if (stream !== undefined && !tellsItsLength(request, one)) {
      for (let trip = 0; trip < 2 && stream.session && !stream.aborted; trip++) await roundTrip(stream.session);
    }
    // HTTP/2 is aborted by anything that ends the stream before END_STREAM; HTTP/1.1 is complete with its last chunk or byte.
    if (stream === undefined ? !request.complete : stream.aborted) {
      throw cutBody(path, found, undefined);
    }
  } finally {
    if (!ended) leaveBody(request, response);
  }
}

/** Decoding recognises a truncated body of this kind, because it contains its length. */
function tellsItsLength({ headers }: NodeRequest, one: boolean): boolean {
  return one && (isEnveloped(headers) || headers['content-length'] !== undefined);
}

function cutBody(path: string, found: number, cause: unknown): Error {
  const text = `expected the complete request of ${path}, found that the client ended it after ${found} bytes: send it again`;
  return toConnectError(new PlatformError('canceled', text, cause));
}

/** Discards what the client still sends, so that it does not fill the window of its connection. */
function leaveBody(request: NodeRequest, response: NodeResponse): void {
  request.resume();
  endAfterAnswer(response);
}

/** Ends a request whose rest is not read: after the answer, HTTP/2 resets its stream (RFC 9113 8.1) and HTTP/1.1 closes its connection. */
function endAfterAnswer(response: NodeResponse): void {
  if ('stream' in response) {
    const { stream } = response;
    // Trailers are the last part of an answer.
    stream.once('wantTrailers', () => setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR)));
  } else if (!response.headersSent) {
    response.setHeader('connection', 'close');
  }
}
