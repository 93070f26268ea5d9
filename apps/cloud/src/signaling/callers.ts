/**
 * Callers, who reach a machine over WebRTC (D39, D40): each call is authorized, is given to a stream of the machine with the caller's name
 * and rights, and ends when its caller loses them.
 *
 * If the machine does not answer over WebRTC, the refusals are those after which public clients go on with plain gRPC at the same address:
 * Go only after UNIMPLEMENTED or the exact text of `notConfigured`, Python after any error.
 */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { asPlatformError, type Clock, invalidArgument } from '@platform/base';
import type { ReportConnectionMetadataRequest, SignalingService } from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import type { Call } from '@platform/rpc/server';
import { authorOf } from '../access/audit.ts';
import type { Access } from '../access/authorize.ts';
import type { CloudCall, CloudHandlers, Principal } from '../access/principal.ts';
import { makerOf } from '../access/signed-address.ts';
import type { MachineNames } from '../machines/machine-names.ts';
import { authorizeControl } from '../relay/authorization/authorize-control.ts';
import { callerAccess } from '../relay/authorization/caller-access.ts';
import { hostHeader } from '../relay/named-part.ts';
import type { CallQueue } from './call-queue.ts';
import type { IceServers } from './ice-servers.ts';
import { offerSeconds, requireSdp } from './offer.ts';
import { notConfigured, withoutWebRtc } from './refusals.ts';

const maxHosts = 5;
/** R16 allows 5 s until a call ends after its caller's right does. */
const recheckMs = 4_000;
const maxNameLength = 200;

export interface CallerDeps {
  readonly names: Pick<MachineNames, 'lead'>;
  readonly access: Pick<Access, 'authorize' | 'allows'>;
  readonly queue: CallQueue;
  readonly iceServers: IceServers;
  /** Whether calls can go to the part through the cloud. */
  hasLink(partId: string): boolean;
  /** What the machine gets to ask about this caller (Authenticator.ticketOf). @throws unauthenticated */
  ticketOf(call: CloudCall, partId: string): Uint8Array;
  /** The current principal of the call. @throws unauthenticated */
  recheck(call: CloudCall): Promise<Principal>;
  /** A client says how an attempt to connect went. */
  onReport(report: ReportConnectionMetadataRequest): void;
  readonly clock: Clock;
}

type CallerHandlers = Pick<
  CloudHandlers<typeof SignalingService>,
  'call' | 'callUpdate' | 'optionalWebRTCConfig' | 'reportConnectionMetadata'
>;

export function callerHandlers(deps: CallerDeps): CallerHandlers {
  const { access, queue, iceServers, hasLink, ticketOf, recheck, onReport, clock } = deps;
  const calledPart = (call: CloudCall, most: number) => {
    const partId = partOfHosts(deps, call, most);
    return { partId, ...authorizeControl(access, call.principal, 'part.control', partId) };
  };
  return {
    async *call({ sdp, disableTrickle }, call) {
      const { partId, organizationId } = calledPart(call, 1);
      requireSdp('Call', sdp);
      let { principal } = call;
      const ticket = ticketOf(call, partId);
      const deadline = timestampFromMs(clock.now() + offerSeconds * 1_000);
      const offer = queue.call({
        ...{ partId, organizationId, disableTrickle, callerId: callerOf(principal), bytes: Buffer.byteLength(sdp) },
        init: () => ({
          ...{ sdp, deadline },
          optionalConfig: { additionalIceServers: iceServers(partId), disableTrickle },
          caller: { ...namedIn(principal), access: callerAccess(access, principal, partId), ticket },
        }),
      });
      /** Ends the call when its caller loses the right to it. */
      const watch = async (): Promise<void> => {
        try {
          for (;;) {
            await clock.sleep(recheckMs, offer.forCaller.ended);
            principal = await recheck(call);
            authorizeControl(access, principal, 'part.control', partId);
          }
        } catch (caught) {
          // Otherwise the call has ended.
          if (!offer.forCaller.ended.aborted) offer.end(asPlatformError(caught));
        }
      };
      const left = (): void => offer.callerLeft();
      call.signal.addEventListener('abort', left, { once: true });
      try {
        void watch();
        yield* offer.forCaller;
      } finally {
        call.signal.removeEventListener('abort', left);
        left();
      }
    },
    async callUpdate(request, call) {
      const { partId } = calledPart(call, 1);
      queue.update({ partId, callerId: callerOf(call.principal) }, request);
      return {};
    },
    async optionalWebRTCConfig(_request, call) {
      const { partId } = calledPart(call, maxHosts);
      const { principal } = call;
      if (queue.isAnswering(partId))
        return { config: { additionalIceServers: iceServers(authorOf({ principal, peerAddress: '' }).id) } };
      // A caller of an offline machine goes on to `call`, which waits for the machine.
      if (hasLink(partId)) throw withoutWebRtc();
      return {};
    },
    async reportConnectionMetadata(request, call) {
      hostsOf(call, maxHosts);
      onReport(request);
      return {};
    },
  };
}

/** As the relay names callers to machines. */
function namedIn(principal: Principal): { readonly id: string; readonly name: string } {
  const { kind, id, name } = authorOf({ principal, peerAddress: '' });
  return { id: `${kind}:${id}`, name: name.slice(0, maxNameLength) };
}

/** Others may not continue its calls, also not another session of the same person. */
function callerOf(principal: Principal): string {
  const { kind, id } = makerOf(principal);
  return `${kind}:${id}`;
}

/** The part that the caller names. @throws invalid_argument, not_found */
function partOfHosts({ names }: Pick<CallerDeps, 'names'>, call: CloudCall, most: number): string {
  const parts = new Set<string>();
  for (const host of hostsOf(call, most)) {
    const led = names.lead(host);
    if (led.to === 'part') parts.add(led.partId);
  }
  const [partId, ...others] = parts;
  if (partId === undefined) throw notConfigured();
  if (others.length > 0)
    throw invalidArgument(
      `${call.method}: expected the names of one machine in the header ${hostHeader}, found several`,
    );
  return partId;
}

function hostsOf({ metadata, method }: Call, most: number): string[] {
  const hosts = (metadata.get(hostHeader) ?? '').split(',').map((host) => host.trim());
  if (hosts.length <= most && !hosts.includes('')) return hosts;
  throw invalidArgument(
    `${method}: expected ${most === 1 ? 'the name of one machine' : `one to ${most} names of a machine`} in the header ${hostHeader}, found ${hosts.includes('') ? 'none' : hosts.length}`,
  );
}
