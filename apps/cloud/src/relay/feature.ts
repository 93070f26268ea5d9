/** Remote control: machines hold a link to the cloud, over which it passes calls on to them. */
import type { ClockAndLog } from '@platform/base';
import { type ForwardCalls, meterCalls, type ObserveCall } from '@platform/rpc/server';
import type { CloudBinding, CloudCall, Principal } from '../access/principal.ts';
import type { MachinesDeps } from '../machines/feature.ts';
import type { Presence } from '../machines/presence/presence.ts';
import { type AskMachine, askMachine } from './ask-machine.ts';
import { createCallLimit } from './call-limit.ts';
import { createPassedBytes } from './count-passed.ts';
import { type DirectCallDeps, directCallHandlers } from './direct-calls.ts';
import { relayedBindings } from './forward/relayed-services.ts';
import { forwardTypes } from './forward/relayed-types.ts';
import type { Links } from './links.ts';
import { createActuationRecord } from './record-actuation.ts';
import { type RelayRpcDeps, relayBinding } from './relay-rpc.ts';

export interface RelayDeps extends ClockAndLog, Pick<MachinesDeps, 'db' | 'names' | 'tree' | 'registry' | 'access'> {
  readonly links: Links;
  readonly presence: Presence;
  authorizeAnswer: RelayRpcDeps['authorizeAnswer'];
  heard: RelayRpcDeps['heard'];
  /** Whether the part reports what it runs. */
  readonly reports: (partId: string) => boolean;
  /** The current principal of the call. @throws unauthenticated */
  recheck(call: CloudCall): Promise<Principal>;
  readonly principalOfTicket: DirectCallDeps['principalOfTicket'];
  /** Called with the bytes that were relayed in both directions, and the machine's organization. */
  readonly onPassed: (organizationId: string, bytes: number) => void;
}

export interface Relay extends AsyncDisposable {
  /** Where machines open their links. */
  readonly binding: CloudBinding;
  /** The services of machines. */
  readonly relayed: readonly CloudBinding[];
  readonly questions: AskMachine;
  /** Services known only to the machines. */
  forwardCalls(observe: ObserveCall): ForwardCalls<Principal>;
}

/** In the metrics they all count as one method. */
const ofModules = '/modules/any';

export function createRelay(deps: RelayDeps): Relay {
  const actuations = createActuationRecord(deps);
  const calls = { ...deps, actuations, limit: createCallLimit(), passed: createPassedBytes(deps.onPassed) };
  return {
    binding: relayBinding({ ...deps, directCalls: directCallHandlers(deps) }),
    relayed: relayedBindings(calls),
    questions: askMachine(calls),
    forwardCalls: (observe) =>
      forwardTypes(calls, (binding) => {
        const [metered] = meterCalls([binding], (_, code, seconds) => observe(ofModules, code, seconds), deps.clock);
        return metered ?? binding;
      }),
    [Symbol.asyncDispose]: () => actuations[Symbol.asyncDispose](),
  };
}
