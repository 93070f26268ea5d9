/**
 * Signaling on the port of this machine, for callers in its network, which have found it by multicast DNS or know its address. They sign in
 * here first, as for calls.
 */
import {
  type Clock,
  invalidArgument,
  newId,
  notFound,
  resourceExhausted,
  unimplemented,
  withoutPort,
} from '@platform/base';
import { SignalingService } from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import { type Call, type ServiceBinding, serve } from '@platform/rpc/server';
import { acceptOffer, type Candidate, type Engine, readCandidate, writeCandidate } from '@platform/webrtc';
import type { Principal } from '../serve/authenticate.ts';
import type { Callers } from './callers.ts';

/** Callers that are being connected. */
const maxConnecting = 16;
const connectMs = 10_000;
/** Candidates that arrive later than this after the end of a call are refused. */
const rememberedMs = 10_000;

export interface LocalSignalingDeps {
  /** Undefined: this machine is not reached over WebRTC. */
  readonly engine: Engine | undefined;
  /** The machine's names. */
  readonly names: () => readonly string[];
  readonly callers: Pick<Callers, 'serve'>;
  /** Whether a call may still go on. @throws unauthenticated */
  readonly recheck: (call: Call) => Promise<unknown>;
  readonly clock: Clock;
}

interface Attempt {
  readonly entity: string;
  addCandidate(candidate: Candidate): void;
}

export function localSignaling({
  engine,
  names,
  callers,
  recheck,
  clock,
}: LocalSignalingDeps): ServiceBinding<Principal> {
  const attempts = new Map<string, Attempt>();
  let connecting = 0;
  const requireName = ({ metadata }: Call): Engine => {
    // In both cases public clients go on with plain gRPC; they compare the text of the second.
    if (engine === undefined)
      throw unimplemented('this machine is not reached over WebRTC: call it here with plain gRPC');
    if (!names().includes(withoutPort(metadata.get('rpc-host') ?? ''))) throw invalidArgument('host not preconfigured');
    return engine;
  };
  return serve<typeof SignalingService, Principal>(SignalingService, {
    optionalWebRTCConfig(_request, call) {
      requireName(call);
      return {};
    },
    async *call({ sdp }, call) {
      const offered = requireName(call);
      if (connecting >= maxConnecting)
        throw resourceExhausted(
          `${call.method}: ${maxConnecting} callers are being connected; please wait a bit and try again`,
        );
      connecting++;
      const uuid = newId();
      try {
        const { peer, answer } = await acceptOffer(offered, sdp, []);
        attempts.set(uuid, {
          entity: call.principal.entity,
          addCandidate: (candidate) => peer.addCandidate(candidate),
        });
        clock.after(connectMs + rememberedMs, () => attempts.delete(uuid));
        const leave = (): void => void peer[Symbol.asyncDispose]();
        call.signal.addEventListener('abort', leave, { once: true });
        yield { uuid, stage: { case: 'init', value: { sdp: answer } } };
        for await (const candidate of peer.candidates)
          yield { uuid, stage: { case: 'update', value: { candidate: writeCandidate(candidate) } } };
        using _timer = clock.after(connectMs, leave);
        const channel = await peer.opened;
        call.signal.removeEventListener('abort', leave);
        const local = { principal: call.principal, check: () => recheck(call) };
        void callers.serve({ peer, channel, caller: undefined }, local);
      } finally {
        connecting--;
      }
    },
    callUpdate({ uuid, update }, call) {
      requireName(call);
      const attempt = attempts.get(uuid);
      if (attempt === undefined || attempt.entity !== call.principal.entity)
        throw notFound(`no active offer for ${JSON.stringify(uuid.slice(0, 64))}`);
      if (update.case === 'candidate') attempt.addCandidate(readCandidate(update.value));
      return {};
    },
    reportConnectionMetadata: () => ({}),
  });
}
