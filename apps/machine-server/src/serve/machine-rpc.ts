/** What this machine-server reports about itself, and what it does for all of its resources. */
import type { JsonObject } from '@bufbuild/protobuf';
import { durationFromMs, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import type { ResourceName } from '@platform/proto/platform/common/v1/common';
import {
  type GetCloudMetadataResponse,
  GetMachineStatusResponse_State,
  PeerConnectionType,
  ResourceStatus_State,
  RobotService,
} from '@platform/proto/platform/robot/v1/robot';
import { type ServiceBinding, serve } from '@platform/rpc/server';
import type { Graph, ResourceState } from '../graph/graph.ts';
import type { Modules } from '../modules/feature.ts';
import type { TypeTable } from '../modules/type-table.ts';
import type { Packages } from '../packages/feature.ts';
import type { Principal } from './authenticate.ts';
import { moduleHandlers, moduleStatuses, packageStatuses } from './module-rpc.ts';
import type { Sessions } from './sessions.ts';
import type { Stopper } from './stop.ts';

type CloudMetadata = Pick<GetCloudMetadataResponse, 'primaryOrgId' | 'locationId' | 'machineId' | 'machinePartId'>;

export interface MachineFacts {
  readonly version: string;
  readonly running: boolean;
  readonly partId: string;
  /** The running configuration. */
  readonly config: RobotConfig;
  /** Wall clock ms. */
  readonly appliedMs: number;
}

const states: Readonly<Record<ResourceState, ResourceStatus_State>> = {
  configuring: ResourceStatus_State.CONFIGURING,
  ready: ResourceStatus_State.READY,
  unhealthy: ResourceStatus_State.UNHEALTHY,
  removing: ResourceStatus_State.REMOVING,
};

export interface MachineRpcDeps {
  readonly graph: Graph;
  readonly types: TypeTable;
  readonly modules: Modules;
  readonly packages: Pick<Packages, 'status'>;
  readonly facts: () => MachineFacts;
  readonly stopper: Stopper;
  readonly sessions: Sessions;
}

export function machineRpc({
  graph,
  types,
  modules,
  packages,
  facts,
  stopper,
  sessions,
}: MachineRpcDeps): ServiceBinding<Principal> {
  const ready = (): ReturnType<Graph['status']> => graph.status().filter(({ state }) => state === 'ready');
  return serve<typeof RobotService, Principal>(RobotService, {
    resourceNames: () => ({ resources: ready().map(({ config }) => nameOf(config)) }),
    getOperations: () => ({ operations: [] }),
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
      const { running, config, appliedMs } = now;
      return {
        state: running ? GetMachineStatusResponse_State.RUNNING : GetMachineStatusResponse_State.INITIALIZING,
        config: { revision: config.revision, lastUpdated: timestampFromMs(appliedMs) },
        resources: graph.status().map((status) => ({
          name: nameOf(status.config),
          state: states[status.state],
          lastUpdated: timestampFromMs(status.since),
          revision: status.revision,
          error: status.error,
          cloudMetadata: cloudMetadata(now),
        })),
        modules: moduleStatuses(modules),
        packages: packageStatuses(packages),
      };
    },
    ...moduleHandlers(modules),
    async stopAll({ extra }, call) {
      const byName = extra.map(({ name, params }): [string, JsonObject] => [fullNameOf(name), params ?? {}]);
      await stopper.stopAll(new Map(byName), call);
      return {};
    },
    startSession({ resume }, { principal, peerAddress }) {
      const { id, windowMs } = sessions.start(principal.entity, peerAddress, resume);
      return { id, heartbeatWindow: durationFromMs(windowMs) };
    },
    sendSessionHeartbeat({ id }, { principal }) {
      sessions.heartbeat(principal.entity, id);
      return {};
    },
    getSessions: () => ({
      sessions: sessions.all.map(({ id, peerAddress }) => ({
        ...{ id, peerConnectionInfo: { type: PeerConnectionType.GRPC, remoteAddress: peerAddress } },
      })),
    }),
  });
}

function cloudMetadata({ config: { cloud }, partId }: MachineFacts): CloudMetadata {
  const { primaryOrgId = '', locationId = '', machineId = '' } = cloud ?? {};
  return { primaryOrgId, locationId, machineId, machinePartId: partId };
}

function fullNameOf({ namespace, type, subtype, name }: Partial<ResourceName> = {}): string {
  return `${namespace}:${type}:${subtype}/${name}`;
}

function nameOf({
  api,
  name,
}: {
  api: string;
  name: string;
}): Pick<ResourceName, 'namespace' | 'type' | 'subtype' | 'name'> {
  const [namespace = '', type = '', subtype = ''] = api.split(':');
  return { namespace, type, subtype, name };
}
