/** Another machine for tests of remotes: it lists what it is told to, and notes the calls of its resources. */
import type { DescMethod, DescService, MessageInitShape } from '@bufbuild/protobuf';
import { unavailable } from '@platform/base';
import {
  ResourceStatus_Reachability,
  ResourceStatus_State,
  type ResourceStatusSchema,
} from '@platform/proto/platform/robot/v1/robot';
import type { Connection, PathChange, Reached } from '@platform/webrtc';

type Listed = Omit<Exclude<MessageInitShape<typeof ResourceStatusSchema>, { $typeName: string }>, '$typeName'>;

export interface FakeMachine {
  /** What it lists. */
  resources: Listed[];
  /** Why no call reaches it; undefined: they do. */
  lost: Error | undefined;
  /** `<method> <name>` of each call, with ` in <session>` if it has one. */
  readonly calls: string[];
  readonly beats: string[];
  /** The path is lost: callers are told. */
  losePath(): void;
  reach(): Reached;
  /** Connections that are open. */
  open: number;
}

/** @param name of a motor, or its full name */
export function listed(name: string, more: Listed = {}): Listed {
  const [api = '', short = ''] = name.includes('/') ? name.split('/') : ['core:component:motor', name];
  const [namespace = '', type = '', subtype = ''] = api.split(':');
  const { READY: state } = ResourceStatus_State;
  const { REACHABLE: reachability } = ResourceStatus_Reachability;
  return { name: { namespace, type, subtype, name: short }, state, error: '', reachability, ...more };
}

export function createFakeMachine(resources: Listed[]): FakeMachine {
  const listeners = new Set<(change: PathChange) => void>();
  let session = 0;
  const answer = (method: DescMethod, request: Record<string, unknown>, headers: Record<string, string>): object => {
    if (machine.lost !== undefined) throw machine.lost;
    switch (method.localName) {
      case 'getMachineStatus':
        return { resources: machine.resources };
      case 'startSession':
        return { id: `s${++session}`, heartbeatWindow: { seconds: 2n, nanos: 0 } };
      case 'resourceRPCSubtypes':
        return { resourceRpcSubtypes: [] };
      case 'sendSessionHeartbeat':
        machine.beats.push(String(request['id']));
        return {};
      default: {
        const sid = headers['viam-sid'];
        machine.calls.push(`${method.localName} ${String(request['name'])}${sid === undefined ? '' : ` in ${sid}`}`);
        return {};
      }
    }
  };
  const connection = (headersOf?: Parameters<Connection['withHeaders']>[0]): Connection => ({
    client: (service: DescService) =>
      Object.fromEntries(
        service.methods.map((method) => [
          method.localName,
          async (request: Record<string, unknown>) =>
            answer(method, request, { ...(await headersOf?.(method, new AbortController().signal)) } as Record<
              string,
              string
            >),
        ]),
      ) as never,
    withHeaders: (next) => connection(next),
  });
  const machine: FakeMachine = {
    resources,
    lost: undefined,
    calls: [],
    beats: [],
    open: 0,
    losePath() {
      machine.lost ??= unavailable('the link ended');
      for (const listener of listeners) listener({ path: undefined, reason: unavailable('the link ended') });
    },
    reach() {
      machine.open++;
      const link = connection();
      return {
        ...{ link, floor: link, path: undefined, webrtcFailure: undefined, latencyMs: undefined },
        measureLatency: async () => 0,
        onPath(listener) {
          listeners.add(listener);
          queueMicrotask(() => machine.lost === undefined && listener({ path: 'relay' }));
          return { [Symbol.dispose]: () => void listeners.delete(listener) };
        },
        async [Symbol.asyncDispose]() {
          machine.open--;
        },
      };
    },
  };
  return machine;
}
