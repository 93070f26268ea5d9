/** Reports about this machine-server, and operations on all of its resources. */
import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';
import { durationFromMs, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Log } from '@platform/base';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import type { ResourceName } from '@platform/proto/platform/common/v1/common';
import {
  type GetCloudMetadataResponse,
  GetMachineStatusResponse_State,
  PeerConnectionType,
  ResourceStatus_Reachability,
  ResourceStatus_State,
  type ResourceStatusSchema,
  RobotService,
} from '@platform/proto/platform/robot/v1/robot';
import { formatResourceName } from '@platform/resources';
import { type ServiceBinding, serve } from '@platform/rpc/server';
import type { Held } from '../config/holding.ts';
import type { Frames } from '../frames/frames.ts';
import type { Graph } from '../graph/graph.ts';
import type { ResourceState } from '../graph/node.ts';
import { asRemote } from '../graph/remote-resource.ts';
import type { Modules } from '../modules/feature.ts';
import type { TypeTable } from '../modules/type-table.ts';
import type { Packages } from '../packages/feature.ts';
import type { Remotes } from '../remotes/feature.ts';
import type { Principal } from './authenticate.ts';
import { writeClientLog } from './client-log.ts';
import { frameHandlers } from './frame-rpc.ts';
import { moduleHandlers, moduleStatuses, packageStatuses } from './module-rpc.ts';
import { operationHandlers } from './operation-rpc.ts';
import type { Operations } from './operations.ts';
import type { Sessions } from './sessions.ts';
import type { Stopper } from './stop.ts';
import type { Tunnels } from './tunnels/tunnels.ts';

type CloudMetadata = Pick<GetCloudMetadataResponse, 'primaryOrgId' | 'locationId' | 'machineId' | 'machinePartId'>;

export interface MachineFacts {
  readonly version: string;
  readonly running: boolean;
  readonly partId: string;
  /** The running configuration. */
  readonly config: RobotConfig;
  /** Wall clock ms. */
  readonly appliedMs: number;
  /** A newer configuration that waits for the maintenance window. */
  readonly held: Held | undefined;
  /** Why the newest configuration does not run, or which parts of it cannot be applied; empty if there is no problem. */
  readonly error: string;
}

const states: Readonly<Record<ResourceState, ResourceStatus_State>> = {
  configuring: ResourceStatus_State.CONFIGURING,
  ready: ResourceStatus_State.READY,
  unhealthy: ResourceStatus_State.UNHEALTHY,
  removing: ResourceStatus_State.REMOVING,
};

export interface MachineRpcDeps {
  readonly graph: Graph;
  readonly remotes: Pick<Remotes, 'isAway'>;
  readonly types: TypeTable;
  readonly modules: Modules;
  readonly packages: Pick<Packages, 'status' | 'with'>;
  readonly facts: () => MachineFacts;
  /** The attributes of a resource that have no effect, by its full name. */
  readonly warningsOf: (full: string) => readonly string[];
  readonly stopper: Stopper;
  readonly sessions: Sessions;
  readonly operations: Operations;
  readonly frames: Frames;
  readonly tunnels: Pick<Tunnels, 'list' | 'open'>;
  /** Stops the server. @param reason who requested it, for the log */
  readonly shutdown: (reason: string) => void;
  readonly log: Log;
}

export function machineRpc(deps: MachineRpcDeps): ServiceBinding<Principal> {
  const { graph, types, modules, packages, facts, warningsOf, stopper, sessions, operations, frames } = deps;
  const { remotes, tunnels, shutdown, log } = deps;
  const ofModules = moduleHandlers(modules);
  const ready = (): ReturnType<Graph['status']> => graph.status().filter(({ state }) => state === 'ready');
  return serve<typeof RobotService, Principal>(RobotService, {
    resourceNames: () => ({ resources: ready().map(({ config }) => nameOf(config)) }),
    ...operationHandlers(operations),
    ...frameHandlers(frames),
    resourceRPCSubtypes: () => ({
      resourceRpcSubtypes: types.all.map(({ api, service }) => ({
        subtype: nameOf({ api, name: '' }),
        protoService: service.typeName,
      })),
    }),
    getCloudMetadata: () => cloudMetadata(facts()),
    getVersion: () => ({ platform: 'machine-server', version: facts().version, apiVersion: 'v1' }),
    getMachineStatus: () => {
      const now = facts();
      const { running, config, appliedMs, held } = now;
      return {
        state: running ? GetMachineStatusResponse_State.RUNNING : GetMachineStatusResponse_State.INITIALIZING,
        config: { revision: config.revision, lastUpdated: timestampFromMs(appliedMs) },
        resources: graph.status().map((status) => ({
          name: nameOf(status.config),
          state: states[status.state],
          lastUpdated: timestampFromMs(status.since),
          revision: status.revision,
          error: status.error,
          warnings: [...warningsOf(formatResourceName(status.config))],
          cloudMetadata: cloudMetadata(now),
          // Its own resources: nothing stands between them and a caller.
          reachability: ResourceStatus_Reachability.REACHABLE,
          ...throughRemote(status, remotes),
        })),
        configError: now.error,
        ...(held && { pendingConfig: { ...held, since: timestampFromMs(held.sinceMs) } }),
        modules: moduleStatuses(modules, packages),
        packages: packageStatuses(packages),
      };
    },
    ...ofModules,
    async stopAll({ extra }, call) {
      const byName = extra.map(({ name, params }): [string, JsonObject] => [fullNameOf(name), params ?? {}]);
      await stopper.stopAll(new Map(byName), call);
    },
    startSession({ resume }, { principal, peerAddress }) {
      const { id, windowMs } = sessions.start(principal.entity, peerAddress, resume);
      return { id, heartbeatWindow: durationFromMs(windowMs) };
    },
    sendSessionHeartbeat({ id }, { principal }) {
      sessions.heartbeat(principal.entity, id);
    },
    log(request, call) {
      if (call.principal.module !== undefined) return ofModules.log(request, call);
      writeClientLog(log, request.logs);
    },
    shutdown(_request, call) {
      const by = call.principal.entity === '' ? call.peerAddress : `${call.principal.entity} (${call.peerAddress})`;
      log.warn('a client shuts this server down', { by });
      // The call ends once its answer has been sent.
      call.signal.addEventListener('abort', () => shutdown(`Shutdown called by ${by}`), { once: true });
    },
    listTunnels: () => ({ tunnels: tunnels.list() }),
    tunnel: (requests, call) => tunnels.open(requests, call),
    getSessions: () => ({
      sessions: sessions.all.map(({ id, peerAddress }) => ({
        ...{ id, peerConnectionInfo: { type: PeerConnectionType.GRPC, remoteAddress: peerAddress } },
      })),
    }),
  });
}

/** What is different for a resource of another machine. */
function throughRemote(
  { config }: ReturnType<Graph['status']>[number],
  { isAway }: Pick<Remotes, 'isAway'>,
): Pick<MessageInitShape<typeof ResourceStatusSchema>, 'cloudMetadata' | 'reachability' | 'remote'> {
  const resource = asRemote(config);
  if (resource === undefined) return {};
  const { remote, owner } = resource;
  const { REACHABLE, REMOTE_DISCONNECTED } = ResourceStatus_Reachability;
  return { remote, cloudMetadata: { ...owner }, reachability: isAway(remote) ? REMOTE_DISCONNECTED : REACHABLE };
}

function cloudMetadata({ config: { cloud }, partId }: MachineFacts): CloudMetadata {
  const { primaryOrgId = '', locationId = '', machineId = '' } = cloud ?? {};
  return { primaryOrgId, locationId, machineId, machinePartId: partId };
}

function fullNameOf({ namespace, type, subtype, name }: Partial<ResourceName> = {}): string {
  return `${namespace}:${type}:${subtype}/${name}`;
}

function nameOf({ api, name }: Parameters<typeof formatResourceName>[0]): Omit<ResourceName, '$typeName'> {
  const [namespace = '', type = '', subtype = ''] = api.split(':');
  return { namespace, type, subtype, name };
}
