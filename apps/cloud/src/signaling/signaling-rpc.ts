/**
 * SignalingService: machines wait here for callers. Remote control over WebRTC does not exist yet, so no caller ever arrives: callers are
 * told so in the way that makes them fall back to plain gRPC at the same address, which the relay answers (D39, callers.ts). If public
 * machine servers were refused here, they would retry every second, forever.
 *
 * A machine waits with two streams. A stream whose link broke silently stays open until TCP notices, so a machine that reconnects finds its
 * old streams still open. Beyond the maximum per part, the oldest stream ends.
 */
import { type Clock, failedPrecondition, invalidArgument, unavailable } from '@platform/base';
import { SignalingService } from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import { type Call, serve } from '@platform/rpc/server';
import { type CloudBinding, type CloudCall, notVisible, type Principal } from '../access/principal.ts';
import type { MachineNames } from '../machines/machine-names.ts';
import { type CallerDeps, callerHandlers } from './callers.ts';

/** Two current streams, and two of an earlier connection. */
const maxStreamsOfPart = 4;
/** R16 allows 5 s until an open stream ends after its right does. */
const recheckMs = 4_000;
const heartbeatMs = 15_000;

export interface SignalingDeps extends CallerDeps {
  readonly names: Pick<MachineNames, 'lead'>;
  /** Checks that the principal may answer in the name of the part. @throws not_found, permission_denied */
  authorizeAnswer(principal: Principal, partId: string): void;
  /** A call for the part began. */
  saw(principal: Principal, partId: string): void;
  /** The current principal of the call. @throws unauthenticated */
  recheck(call: CloudCall): Promise<Principal>;
  readonly clock: Clock;
}

export function signalingBinding(deps: SignalingDeps): CloudBinding {
  const { authorizeAnswer, recheck, clock } = deps;
  const partOfHost = (host: string): string | undefined => {
    const led = deps.names.lead(host);
    return led.to === 'part' ? led.partId : undefined;
  };
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
      oldest.abort(unavailable(message));
    }
    return stream;
  };
  const leave = (partId: string, stream: AbortController): void => {
    const streams = waiting.get(partId);
    streams?.delete(stream);
    if (streams?.size === 0) waiting.delete(partId);
  };

  return serve<typeof SignalingService, Principal>(SignalingService, {
    ...callerHandlers(deps),
    async *answer(requests, call) {
      const host = hostOf(call);
      const partId = partOfHost(host);
      if (partId === undefined) throw notVisible('machine host', host);
      authorizeAnswer(call.principal, partId);
      deps.saw(call.principal, partId);
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
        }
      } catch (caught) {
        if (caught !== finished) throw caught;
      } finally {
        leave(partId, stream);
      }
    },
  });
}

/** The machine has closed its side of the stream. */
const finished = Symbol('finished');

/** Waits for the end of the requests. No message is valid before a caller has arrived, so any message is refused. */
async function untilEnd(requests: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of requests)
    throw failedPrecondition('Answer: expected no message before a caller has arrived, found one');
}

/** A machine may send its name several times; it is always the same. */
function hostOf({ metadata }: Call): string {
  const [host = ''] = (metadata.get('rpc-host') ?? '').split(',').map((one) => one.trim());
  if (host !== '') return host;
  throw invalidArgument(
    'Answer: expected the name of the machine (cloud.fqdn of its configuration) in the header rpc-host, found none',
  );
}
