import type { ResourceDescriptor } from '@platform/resources';
import type { Engine } from '@platform/webrtc';
import { readResource } from './capture/read-resource.ts';
import { userAgentOfRun } from './cloud-link/user-agent.ts';
import type { CloudParts } from './compose-cloud.ts';
import { composeData, type Data } from './compose-data.ts';
import { composeModules, type ModuleParts, type ModulePartsDeps } from './compose-modules.ts';
import type { LocalSettings } from './config/local-settings.ts';
import { createFrames, type Frames } from './frames/frames.ts';
import { Graph } from './graph/graph.ts';
import type { Model } from './graph/model.ts';
import { openKernel } from './hardware/kernel.ts';
import type { ModelParts } from './models/built-in.ts';
import { TypeTable } from './modules/type-table.ts';
import { createRemotes, type Remotes } from './remotes/feature.ts';
import { ownCloudOf, reachRemote } from './remotes/way-to-remote.ts';
import type { Observe } from './telemetry/observe.ts';

export interface ResourcePartsDeps extends Omit<ModulePartsDeps, 'types' | 'source' | 'partId' | 'graph'> {
  readonly local: LocalSettings;
  /** The types to serve and capture. */
  readonly types: readonly ResourceDescriptor[];
  /** The models that can be built. */
  readonly models: (parts: ModelParts) => readonly Model[];
  /** Undefined without a cloud. */
  readonly cloud: CloudParts | undefined;
  /** For WebRTC with remotes; undefined: there is none here. */
  readonly engine: Engine | undefined;
  /** Hides secrets in an error. */
  readonly hide: (text: string) => string;
  /** Observes builds and uploads. */
  readonly observe: Observe | undefined;
  /** Ends a start in progress. */
  readonly signal: AbortSignal;
}

export interface ResourceParts extends ModuleParts {
  readonly types: TypeTable;
  readonly graph: Graph;
  readonly remotes: Remotes;
  readonly frames: Frames;
  readonly data: Data;
}

export async function composeResources(deps: ResourcePartsDeps): Promise<ResourceParts> {
  const { settings, local, cloud, engine, serving, config, applyAgain, onChange, levelOf, hide, observe } = deps;
  const { clock, log, signal } = deps;
  await using starting = new AsyncDisposableStack();
  const { home, untrustedEnvironment: untrusted, resourceConfigureTimeoutMs } = settings;
  const partId = cloud?.partId ?? '';
  const types = new TypeTable(deps.types);
  // Disposed after the resources, whose processes the modules run.
  const { packages, modules } = starting.use(
    composeModules({
      ...{ settings, types, source: cloud, partId, serving, config, applyAgain, onChange, levelOf, clock, log },
      graph: () => graph,
    }),
  );
  const graph: Graph = starting.use(
    new Graph({
      models: deps.models({
        clock,
        dataManager: () => ({
          ...{ types: types.known, ...data, home, clock, log: log.child('data_manager') },
          ...{ untrusted, allowedSyncFolders: local.allowedSyncFolders },
        }),
        kernel: openKernel,
        trust: { untrusted },
        home,
      }),
      configureTimeoutMs: resourceConfigureTimeoutMs,
      hide,
      observe,
      clock,
      log: log.child('resources'),
    }),
  );
  const frames = createFrames({ graph, types, log: log.child('frames') });
  const read = readResource(graph, types, (name) => frames.worldPose(name));
  const data: Data = starting.use(
    await composeData({
      ...{ home, partId, link: cloud?.link, read, observe, clock, log, signal },
      ids: () => {
        const { primaryOrgId = '', locationId = '', machineId = '' } = config().cloud ?? {};
        return { organizationId: primaryOrgId, locationId, robotId: machineId };
      },
    }),
  );
  const remotes = starting.use(
    createRemotes({
      ...{ types, ownPartId: partId },
      reach: reachRemote({
        ...{ engine, allowInsecureCredentials: settings.allowInsecureCredentials, userAgent: userAgentOfRun(), clock },
        ownCloud: () => ownCloudOf(cloud?.credentials, config().cloud),
      }),
      provide: (remote, provided) => graph.provide(remote, provided),
      setRemote: (remote, resources) => graph.setRemote(remote, resources),
      ...{ onChange, clock, log: log.child('remotes') },
    }),
  );
  const unwinding = starting.move();
  return {
    ...{ types, packages, modules, graph, remotes, frames, data },
    [Symbol.asyncDispose]: () => unwinding.disposeAsync(),
  };
}
