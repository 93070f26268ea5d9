/** Bodies that no codec reads: of plain routes, and of calls that were answered before their end. Their clients must not hold a connection with them. */
import { constants } from 'node:http2';
import type { Clock } from '@platform/base';
import type { NodeRequest } from './node-types.ts';

/** Ends the request in `ms` from now, unless its body is complete by then. */
export function endUnreadBody(request: NodeRequest, ms: number, clock: Clock): void {
  if (hasEnded(request)) return;
  const timer = clock.after(ms, () => {
    // No one began to read by now: what has come already must not count as missing.
    request.resume();
    setImmediate(() => setImmediate(() => hasEnded(request) || cut(request)));
  });
  const done = (): void => timer[Symbol.dispose]();
  request.once('end', done);
  request.once('close', done);
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
