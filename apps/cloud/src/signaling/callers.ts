/**
 * What callers are told, who look for a machine to reach over WebRTC. The answers are those on which public clients go on with plain gRPC
 * at the same address: Go only after UNIMPLEMENTED or the exact text of `notConfigured`, Python after any error.
 *
 * An offline machine is NOT_FOUND with the words of the public platform, after a wait, so that clients that try again at once do not hammer.
 */
import { type Clock, invalidArgument, notFound, type PlatformError, unavailable, unimplemented } from '@platform/base';
import type { SignalingService } from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import type { Call } from '@platform/rpc/server';
import type { Access } from '../access/authorize.ts';
import type { CloudCall, CloudHandlers } from '../access/principal.ts';
import type { MachineNames } from '../machines/machine-names.ts';
import { authorizeControl } from '../relay/authorization/authorize-control.ts';
import { hostHeader } from '../relay/named-part.ts';

/** How long the caller of an offline machine waits for its answer. */
const offlineHoldMs = 5_000;
/** Callers of one machine that wait. */
const maxWaiting = 50;
const maxHosts = 5;

export interface CallerDeps {
  readonly names: Pick<MachineNames, 'lead'>;
  readonly access: Pick<Access, 'authorize'>;
  /** Whether the part has contact. */
  isOnline(partId: string): boolean;
  readonly clock: Clock;
}

type CallerHandlers = Pick<
  CloudHandlers<typeof SignalingService>,
  'call' | 'callUpdate' | 'optionalWebRTCConfig' | 'reportConnectionMetadata'
>;

export function callerHandlers(deps: CallerDeps): CallerHandlers {
  const { names, access, isOnline, clock } = deps;
  const waiting = new Map<string, number>();

  /** The part that the caller names. @throws invalid_argument, not_found, permission_denied */
  const calledPart = (call: CloudCall, most: number): string => {
    const hosts = hostsOf(call, most);
    const parts = new Set<string>();
    for (const host of hosts) {
      const led = names.lead(host);
      if (led.to === 'part') parts.add(led.partId);
    }
    const [partId, ...others] = parts;
    if (partId === undefined) throw notConfigured();
    if (others.length > 0)
      throw invalidArgument(
        `${call.method}: expected the names of one machine in the header ${hostHeader}, found several`,
      );
    authorizeControl(access, call.principal, 'part.control', partId);
    return partId;
  };
  const hold = async (partId: string, signal: AbortSignal): Promise<void> => {
    const count = waiting.get(partId) ?? 0;
    if (count >= maxWaiting) throw unavailable('too many connection attempts; please wait a bit and try again');
    waiting.set(partId, count + 1);
    try {
      await clock.sleep(offlineHoldMs, signal);
    } finally {
      const left = (waiting.get(partId) ?? 1) - 1;
      if (left === 0) waiting.delete(partId);
      else waiting.set(partId, left);
    }
  };

  return {
    // biome-ignore lint/correctness/useYield: no machine answers over WebRTC yet.
    async *call(_request, call) {
      const partId = calledPart(call, 1);
      if (!isOnline(partId)) await hold(partId, call.signal);
      throw isOnline(partId) ? withoutWebRtc() : offline();
    },
    async callUpdate(request, call) {
      calledPart(call, 1);
      throw notFound(`no active offer for ${JSON.stringify(request.uuid.slice(0, 64))}`);
    },
    async optionalWebRTCConfig(_request, call) {
      // A caller of an offline machine goes on to `call`, which tells it so.
      if (isOnline(calledPart(call, maxHosts))) throw withoutWebRtc();
      return {};
    },
    async reportConnectionMetadata(_request, call) {
      hostsOf(call, maxHosts);
      return {};
    },
  };
}

function hostsOf({ metadata, method }: Call, most: number): string[] {
  const hosts = (metadata.get(hostHeader) ?? '').split(',').map((host) => host.trim());
  if (hosts.length <= most && !hosts.includes('')) return hosts;
  throw invalidArgument(
    `${method}: expected ${most === 1 ? 'the name of one machine' : `one to ${most} names of a machine`} in the header ${hostHeader}, found ${hosts.includes('') ? 'none' : hosts.length}`,
  );
}

/** The text is what clients compare. */
function notConfigured(): PlatformError {
  return invalidArgument('host not preconfigured');
}

function offline(): PlatformError {
  return notFound('host appears to be offline; ensure machine is online and try again');
}

function withoutWebRtc(): PlatformError {
  return unimplemented(
    'this cloud passes calls to machines on, at this address and without WebRTC: call the machine here with plain gRPC',
  );
}
