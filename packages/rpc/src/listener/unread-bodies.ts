/**
 * Bodies that no codec reads: those of plain routes, and of calls answered before the body ended. Clients must not hold a connection open
 * with them.
 */
import { constants } from 'node:http2';
import type { Clock } from '@platform/base';
import type { NodeRequest } from './node-types.ts';

const timers = new WeakMap<NodeRequest, Disposable>();

/** Ends the request `ms` from now, unless its body is complete or being read by then. */
export function endUnreadBody(request: NodeRequest, ms: number, clock: Clock): void {
  if (hasEnded(request)) return;
  const timer = clock.after(ms, () => {
    // Nothing has read the body yet: bytes that have already arrived must not count as missing.
    request.resume();
    setImmediate(() => setImmediate(() => hasEnded(request) || cut(request)));
  });
  timers.set(request, timer);
  const done = (): void => timer[Symbol.dispose]();
  request.once('end', done);
  request.once('close', done);
}

/** From now on, the reader of the body watches its pace. */
export function watchedByReader(request: NodeRequest): void {
  timers.get(request)?.[Symbol.dispose]();
}

function hasEnded(request: NodeRequest): boolean {
  if (!('stream' in request)) return request.complete || request.destroyed;
  const { stream } = request;
  return stream.endAfterHeaders || stream.readableEnded || stream.destroyed;
}

function cut(request: NodeRequest): void {
  if ('stream' in request) request.stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  else request.destroy();
}
