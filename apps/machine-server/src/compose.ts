/** All wiring of the machine-server, top to bottom: cloud → configuration → resources, with compose-modules.ts and compose-data.ts → serving, with compose-port.ts → status. */
import type { Clock } from '@platform/base';
import { maintenanceOf } from '@platform/machine-config/robot-config';
import type { ResourceDescriptor } from '@platform/resources';
import { connect, type Link } from '@platform/rpc/client';
import type { Capture } from './capture/capture.ts';
import { readDocument } from './capture/read-document.ts';
import { LogShipper } from './cloud-link/log-shipper.ts';
import { RelayLink } from './cloud-link/relay-link.ts';
import { RestartWatch } from './cloud-link/restart-watch.ts';
import { StatusReporter } from './cloud-link/status-reporter.ts';
import { composeData, type Data } from './compose-data.ts';
import { composeModules } from './compose-modules.ts';
import { composePort } from './compose-port.ts';
import { ConfigApplier } from './config/config-applier.ts';
import { ConfigWatch } from './config/config-watch.ts';
import { type CloudCredentials, readConfigFile } from './config/credentials.ts';
import { holdReason } from './config/hold-reason.ts';
import { readLocalConfig } from './config/local-config.ts';
import { checkHome } from './directories/check-home.ts';
import { createFrames } from './frames/frames.ts';
import { Graph } from './graph/graph.ts';
import { openKernel } from './hardware/kernel.ts';
import type { ServerLog } from './logging/server-log.ts';
import type { builtInModels } from './models/built-in.ts';
import type { Modules } from './modules/feature.ts';
import { TypeTable } from './modules/type-table.ts';
import { MachineAuth, secretsOf } from './serve/authenticate.ts';
import { Serving } from './serve/serve.ts';
import type { Settings } from './settings.ts';
import type { Sync } from './sync/sync.ts';
import { version } from './version.ts';

export interface MachineServer extends AsyncDisposable {
  readonly serving: Serving;
  readonly sync: Sync;
  readonly capture: Capture;
  readonly graph: Graph;
  readonly modules: Modules;
}

export interface MachineServerDeps {
  readonly settings: Settings;
  readonly configFile: string;
  /** The types to serve and capture. */
  readonly types: readonly ResourceDescriptor[];
  /** The models that can be built. */
  readonly models: typeof builtInModels;
  readonly clock: Clock;
  readonly serverLog: ServerLog;
  /** Ends a start in progress. */
  readonly signal: AbortSignal;
  /** Called when the cloud asks for a restart. */
  readonly restart: () => void;
  /** Called when a client shuts the server down. */
  readonly shutdown: (reason: string) => void;
}

export async function startMachineServer(deps: MachineServerDeps): Promise<MachineServer> {
  const { settings, clock, serverLog, signal } = deps;
  const { log } = serverLog;
  await using starting = new AsyncDisposableStack();

  const file = await readConfigFile(deps.configFile);
  await checkHome(settings.home, log.child('machine-server'));
  const cloud = file.kind === 'cloud' ? composeCloud(deps, file.credentials, starting) : undefined;
  const partId = cloud?.partId ?? '';
  const watch = cloud?.watch;
  const first = watch === undefined ? await readLocalConfig(file, log.child('config')) : await watch.first(signal);
  cloud?.start();

  const types = new TypeTable(deps.types);
  // Disposed after the resources, whose processes the modules run.
  const { packages, modules } = starting.use(
    composeModules({
      ...{ settings, types, source: cloud, partId, clock, log },
      graph: () => graph,
      serving: () => serving,
      config: () => applier.wanted,
      onChange: () => reporter?.changed(),
    }),
  );
  const graph: Graph = starting.use(
    new Graph({
      models: deps.models(
        clock,
        () => ({
          ...{ types: types.known, ...data, home: settings.home, untrusted: settings.untrustedEnvironment },
          log: log.child('data_manager'),
        }),
        { untrusted: settings.untrustedEnvironment, kernel: openKernel },
      ),
      configureTimeoutMs: settings.resourceConfigureTimeoutMs,
      clock,
      log: log.child('resources'),
    }),
  );
  const frames = createFrames({ graph, types, log: log.child('frames') });
  const read = readDocument(graph, types, (name) => frames.worldPose(name));
  const data: Data = starting.use(
    await composeData({ home: settings.home, partId, link: cloud?.link, read, clock, log, signal }),
  );

  const auth = new MachineAuth();
  auth.configure(secretsOf(first));
  const applier: ConfigApplier = new ConfigApplier({
    ...{ first, graph, modules, packages, auth, serverLog, debug: settings.debug, clock, log: log.child('config') },
    onChange: () => {
      frames.check();
      reporter?.changed();
    },
  });
  const names = (): string[] => [applier.applied.config.cloud?.fqdn ?? ''].filter((name) => name !== '');
  const port = await composePort({ settings, first, link: cloud?.link, partId, names, clock, log, signal });
  if (port.certificate !== undefined) starting.use(port.certificate);
  let running = false;
  const serving: Serving = starting.use(
    new Serving({
      graph,
      types,
      modules,
      packages,
      auth,
      frames,
      facts: () => ({ version, running, partId, ...applier.applied, held: watch?.held, error: applier.error }),
      shutdown: deps.shutdown,
      requestsLimit: settings.resourceRequestsLimit,
      ...port,
      clock,
      log: log.child('serve'),
    }),
  );
  const reporter =
    cloud &&
    starting.use(
      new StatusReporter({
        ...{ link: cloud.link, partId, version, clock, log: log.child('cloud-link') },
        status: () => ({
          appliedRevision: applier.applied.revision,
          heldRevision: cloud.watch.held?.revision ?? '',
          heldReason: cloud.watch.held?.reason ?? '',
          lastError:
            applier.error ||
            [packages.errors(), modules.errors(), graph.errors(), data.capture.errors()]
              .filter((text) => text !== '')
              .join('\n'),
        }),
        onForced: (revision) => cloud.watch.force(revision),
      }),
    );

  await serving.start();
  const announced = await port.announce(serving.port);
  if (announced !== undefined) starting.use(announced);
  data.capture.start();
  data.reclaim.start();
  graph.start();
  const { settled } = applier.apply(first);
  if (watch !== undefined) starting.use(watch);
  watch?.start(
    (config) => applier.apply(config),
    (config) => holdReason(graph, maintenanceOf(config), clock),
  );
  await settled;
  signal.throwIfAborted();
  running = true;
  reporter?.start();
  if (cloud !== undefined) {
    const { partId, connectAgain: connect } = cloud;
    starting
      .use(new RelayLink({ connect, partId, server: serving.relayed, clock, log: log.child('cloud-link') }))
      .start();
  }
  const unwinding = starting.move();
  const { sync, capture } = data;
  return { serving, sync, capture, graph, modules, [Symbol.asyncDispose]: () => unwinding.disposeAsync() };
}

interface CloudParts {
  readonly credentials: CloudCredentials;
  readonly partId: string;
  readonly link: Link;
  /** Opens another connection, with the same credentials. */
  readonly connectAgain: () => Link;
  readonly watch: ConfigWatch;
  /** Starts to send logs, and to ask whether to restart. */
  start(): void;
}

/** Everything that talks to the cloud, except sync and the status. */
function composeCloud(
  { settings, serverLog, clock, restart }: MachineServerDeps,
  credentials: CloudCredentials,
  starting: AsyncDisposableStack,
): CloudParts {
  const { partId, appAddress, entity, type, payload, ca } = credentials;
  const { log } = serverLog;
  const connectAgain = (): Link =>
    connect({
      baseUrl: appAddress,
      credentials: { entity, type, payload },
      allowInsecureCredentials: settings.allowInsecureCredentials,
      ca,
      userAgent: `platform-machine-server/${version}`,
    });
  const link = starting.use(connectAgain());
  const watch = new ConfigWatch({
    ...{ link, credentials, home: settings.home, readTimeoutMs: settings.configReadTimeoutMs },
    ...{ clock, log: log.child('config') },
  });
  const start = (): void => {
    const shipper = starting.use(new LogShipper({ link, partId, clock }));
    serverLog.onLine((line) => shipper.add(line));
    shipper.start();
    starting.use(new RestartWatch({ link, partId, restart, clock, log: log.child('cloud-link') })).start();
  };
  return { credentials, partId, link, connectAgain, watch, start };
}
