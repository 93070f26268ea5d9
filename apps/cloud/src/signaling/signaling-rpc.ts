/**
 * SignalingService: machines wait here for callers. Remote control does not exist yet, so no caller comes, and the other
 * methods answer UNIMPLEMENTED. A public machine server that is refused here asks again every second, for ever.
 *
 * A machine waits with two streams. One whose link died without a word stays until TCP notices, so that a machine which comes
 * back finds its old streams still open: beyond the most that a part may have, the oldest ends.
 */
import { type Clock, PlatformError } from '@platform/base';
import { SignalingService } from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import { type Call, type ServiceBinding, serve } from '@platform/rpc/server';
import { notVisible, type Principal } from '../access/principal.ts';

/** Two that wait, and two of a connection before. */
const maxStreamsOfPart = 4;
/** R16 grants 5 s until an open stream ends with the right to it. */
const recheckMs = 4_000;
const heartbeatMs = 15_000;

export interface SignalingDeps {
  /** The part whose machine has this name in its configuration; undefined: none. */
  partOfHost(host: string): string | undefined;
  /** May the principal answer in the name of the part? @throws not_found, permission_denied */
  authorizeAnswer(principal: Principal, partId: string): void;
  /** Who calls, as of now. @throws unauthenticated */
  recheck(call: Call<Principal>): Promise<Principal>;
  readonly clock: Clock;
}

export function signalingBinding(deps: SignalingDeps): ServiceBinding<Principal> {
  const { partOfHost, authorizeAnswer, recheck, clock } = deps;
  const waiting = new Map<string, Set<AbortController>>();

  const enter = (partId: string): AbortController => {
    const streams = waiting.get(partId) ?? new Set();
    waiting.set(partId, streams);
    const stream = new AbortController();
    streams.add(stream);
    const [oldest] = streams;
    if (streams.size > maxStreamsOfPart && oldest !== undefined) {
      streams.delete(oldest);
      const message = `Answer: part ${partId} opened more than ${maxStreamsOfPart} streams, so the oldest ends`;
      oldest.abort(new PlatformError('unavailable', message));
    }
    return stream;
  };
  const leave = (partId: string, stream: AbortController): void => {
    const streams = waiting.get(partId);
    streams?.delete(stream);
    if (streams?.size === 0) waiting.delete(partId);
  };

  return serve<typeof SignalingService, Principal>(SignalingService, {
    async *answer(requests, call) {
      const host = hostOf(call);
      const partId = partOfHost(host);
      if (partId === undefined) throw notVisible('machine host', host);
      authorizeAnswer(call.principal, partId);
      const stream = enter(partId);
      const over = AbortSignal.any([call.signal, stream.signal]);
      try {
        const ended = untilEnd(requests).catch((caught: unknown) => caught);
        void ended.then((reason) => stream.abort(reason ?? finished));
        const beats = call.metadata.get('heartbeats-allowed') === 'true';
        let beatMs = Number.NEGATIVE_INFINITY;
        for (;;) {
          if (beats && clock.monotonic() - beatMs >= heartbeatMs) {
            beatMs = clock.monotonic();
            yield { stage: { case: 'heartbeat', value: {} } };
          }
          await clock.sleep(recheckMs, over);
          authorizeAnswer(await recheck(call), partId);
          // The machine may have moved, and its name with it.
          if (partOfHost(host) !== partId) throw notVisible('machine host', host);
        }
      } catch (caught) {
        if (caught !== finished) throw caught;
      } finally {
        leave(partId, stream);
      }
    },
  });
}

/** The machine has closed its side. */
const finished = Symbol('finished');

/** Nothing is to be said before a caller has come: what is said all the same is refused, not kept. */
async function untilEnd(requests: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of requests)
    throw new PlatformError('failed_precondition', 'Answer: expected no message before a caller has come, found one');
}

/** A machine may name itself several times; each time is the same name. */
function hostOf({ metadata }: Call): string {
  const [host = ''] = (metadata.get('rpc-host') ?? '').split(',').map((one) => one.trim());
  if (host !== '') return host;
  throw new PlatformError(
    'invalid_argument',
    'Answer: expected the name of the machine (cloud.fqdn of its configuration) in the header rpc-host, found none',
  );
}
