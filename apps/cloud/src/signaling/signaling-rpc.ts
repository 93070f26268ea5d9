/**
 * SignalingService: callers and machines exchange here what they need to connect over WebRTC. Callers: callers.ts; machines wait with
 * `Answer` (answer-stream.ts); call-queue.ts brings them together.
 */
import { asPlatformError, invalidArgument } from '@platform/base';
import { type AnswerResponse, SignalingService } from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import { type Call, serve } from '@platform/rpc/server';
import { type CloudBinding, type CloudCall, notVisible, type Principal } from '../access/principal.ts';
import type { AnswerStream } from './answer-stream.ts';
import { type CallerDeps, callerHandlers } from './callers.ts';

/** R16 allows 5 s until an open stream ends after its right does. */
const recheckMs = 4_000;
const heartbeatMs = 15_000;

export interface SignalingDeps extends CallerDeps {
  /** Checks that the principal may answer in the name of the part. @throws not_found, permission_denied */
  authorizeAnswer(principal: Principal, partId: string): void;
  /** A call for the part began. */
  saw(principal: Principal, partId: string): void;
}

export function signalingBinding(deps: SignalingDeps): CloudBinding {
  const { queue, authorizeAnswer, recheck, clock } = deps;
  /** Ends the stream when the machine loses its right to it. Heartbeats show that the link is alive, also during a call. */
  const attend = async (stream: AnswerStream, call: CloudCall): Promise<void> => {
    const { forMachine, partId } = stream;
    const beats = call.metadata.get('heartbeats-allowed') === 'true';
    let beatMs = Number.NEGATIVE_INFINITY;
    try {
      for (;;) {
        // A machine that does not read gets no more of them.
        if (beats && forMachine.size === 0 && clock.monotonic() - beatMs >= heartbeatMs) {
          beatMs = clock.monotonic();
          forMachine.push({ stage: { case: 'heartbeat', value: {} } });
        }
        await clock.sleep(recheckMs, forMachine.ended);
        authorizeAnswer(await recheck(call), partId);
      }
    } catch (caught) {
      // Also at the end of the stream, when it does nothing.
      stream.end(asPlatformError(caught));
    }
  };

  return serve<typeof SignalingService, Principal>(SignalingService, {
    ...callerHandlers(deps),
    async *answer(requests, call) {
      const host = hostOf(call);
      const led = deps.names.lead(host);
      if (led.to !== 'part') throw notVisible('machine host', host);
      const { partId } = led;
      authorizeAnswer(call.principal, partId);
      deps.saw(call.principal, partId);
      const stream = queue.answer(partId);
      const closed = (): void => stream.closed();
      call.signal.addEventListener('abort', closed, { once: true });
      try {
        void listen(stream, requests);
        void attend(stream, call);
        yield* stream.forMachine;
      } finally {
        call.signal.removeEventListener('abort', closed);
        closed();
      }
    },
  });
}

async function listen(stream: AnswerStream, messages: AsyncIterable<AnswerResponse>): Promise<void> {
  try {
    for await (const message of messages) stream.received(message);
    stream.closed();
  } catch (caught) {
    stream.end(asPlatformError(caught));
  }
}

/** A machine may send its name several times; it is always the same. */
function hostOf({ metadata }: Call): string {
  const [host = ''] = (metadata.get('rpc-host') ?? '').split(',').map((one) => one.trim());
  if (host !== '') return host;
  throw invalidArgument(
    'Answer: expected the name of the machine (cloud.fqdn of its configuration) in the header rpc-host, found none',
  );
}
