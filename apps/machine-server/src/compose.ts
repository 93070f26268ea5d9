/**
 * All wiring of the machine-server, top to bottom: cloud (compose-cloud.ts) → configuration → resources (compose-resources.ts) → serving,
 * with compose-port.ts → status.
 */
import { runInTurns, version } from '@platform/base';
import { maintenanceOf } from '@platform/machine-config/robot-config';
import { createEngine } from '@platform/webrtc';
import type { Capture } from './capture/capture.ts';
import { relayLink } from './cloud-link/relay-link.ts';
import { StatusReporter } from './cloud-link/status-reporter.ts';
import type { CloudParts } from './compose-cloud.ts';
import { composeDiagnostics, composeTelemetry } from './compose-diagnostics.ts';
import { composePort } from './compose-port.ts';
import { composeResources, type ResourceParts, type ResourcePartsDeps } from './compose-resources.ts';
import { composeSource } from './compose-source.ts';
import { ConfigApplier } from './config/config-applier.ts';
import { ConfigEnvironment } from './config/environment.ts';
import { holdReason } from './config/hold-reason.ts';
import { machineNames } from './config/machine-names.ts';
import { lockHome } from './directories/lock/lock-home.ts';
import type { Graph } from './graph/graph.ts';
import type { ServerLog } from './logging/server-log.ts';
import type { Modules } from './modules/feature.ts';
import { createPeers } from './peers/feature.ts';
import { MachineAuth, secretsOf } from './serve/authenticate.ts';
import { parseBindAddress } from './serve/bind-address.ts';
import { ownNames } from './serve/pages/own-names.ts';
import { Serving } from './serve/serve.ts';
import { createTunnels } from './serve/tunnels/tunnels.ts';
import { dataTotals } from './sync/data-status.ts';
import type { Sync } from './sync/sync.ts';

export interface MachineServer extends AsyncDisposable {
  readonly serving: Serving;
  readonly sync: Sync;
  readonly capture: Capture;
  readonly graph: Graph;
  readonly modules: Modules;
}

export interface MachineServerDeps
  extends Pick<ResourcePartsDeps, 'settings' | 'types' | 'models' | 'clock' | 'signal'> {
  readonly configFile: string;
  readonly serverLog: ServerLog;
  /** Called when the cloud asks for a restart. */
  readonly restart: () => void;
  /** Called when a client shuts the server down. */
  readonly shutdown: (reason: string) => void;
}

export async function startMachineServer(deps: MachineServerDeps): Promise<MachineServer> {
  const { settings, clock, serverLog, signal } = deps;
  const { log } = serverLog;
  await using starting = new AsyncDisposableStack();

  starting.use(await lockHome(settings.home, log.child('machine-server')));
  const environment = new ConfigEnvironment(settings.untrustedEnvironment ? undefined : settings.environment);
  const hide = (text: string): string => environment.hide(text);
  const onProblem = (): void => reporter?.changed();
  const { cloud, source, local } = await composeSource({ ...deps, onProblem }, starting);
  const partId = cloud?.partId ?? '';
  const written = await source.first(signal);
  const { config: first } = await runInTurns(environment.resolve(written));
  cloud?.start();

  const telemetry = composeTelemetry(settings, () => ({ graph, ...data, requests: serving.requests }), clock);
  const observe = telemetry?.observe;
  const engine = settings.webRtc
    ? starting.use(createEngine({ udpPort: settings.webRtcPort, clock, log: log.child('webrtc') }))
    : undefined;
  const resources = starting.use(
    await composeResources({
      ...{ settings, local, types: deps.types, models: deps.models, cloud, engine, hide, observe, clock, log, signal },
      serving: () => serving,
      config: () => applier.wanted,
      applyAgain: () => applier.applyAgain(),
      onChange: () => reporter?.changed(),
      levelOf: (logger) => serverLog.levels.of(logger),
    }),
  );
  const { types, packages, modules, graph, remotes, frames, data } = resources;

  const bindAddress = parseBindAddress(first.network?.bindAddress || settings.bindAddress);
  const auth = new MachineAuth(bindAddress);
  auth.configure(secretsOf(first));
  const tunnels = createTunnels({ clock, log: log.child('serve') });
  const applier: ConfigApplier = starting.use(
    new ConfigApplier({
      ...{
        first: written,
        firstResolved: first,
        environment,
        graph,
        modules,
        remotes,
        packages,
        auth,
        tunnels,
        serverLog,
        observe,
        clock,
        log: log.child('config'),
      },
      ...{ debug: settings.debug, revealDiffs: settings.revealSensitiveConfigDiffs },
      onChange: () => {
        frames.check();
        reporter?.changed();
      },
    }),
  );
  const names = (): string[] => machineNames(applier.applied.config.cloud);
  const port = await composePort({
    ...{ settings, bindAddress, first, link: cloud?.link, partId, names, clock, log, signal },
  });
  if (port.certificate !== undefined) starting.use(port.certificate);
  const peers = starting.use(
    createPeers({
      engine,
      cloud: cloud && { link: cloud.control, partId },
      name: () => names()[0] ?? '',
      ownNames: () => ['localhost', ...ownNames(applier.wanted, undefined).names],
      ...{ types, server: () => serving.direct, recheck: (call) => auth.authenticate(call) },
      ...{ clock, log: log.child('webrtc') },
    }),
  );
  const configError = (): string => hide([source.problem, applier.error].filter((text) => text !== '').join('; '));
  let running = false;
  const serving: Serving = starting.use(
    new Serving({
      graph,
      remotes,
      types,
      modules,
      packages,
      auth,
      frames,
      tunnels,
      facts: () => ({ version, running, partId, ...applier.applied, held: source.held, error: configError() }),
      warningsOf: (full) => applier.warningsOf(full),
      ownNames: () => ownNames(applier.wanted, cloud?.credentials),
      shutdown: deps.shutdown,
      requestsLimit: settings.resourceRequestsLimit,
      trustedProxies: settings.trustedProxies,
      watchCall: telemetry?.watchCall,
      callRecord: cloud?.callRecord,
      tcpModeTrusted: local.tcpModeTrusted,
      signaling: peers.signaling,
      ...port,
      clock,
      log: log.child('serve'),
    }),
  );
  const reporter = cloud && starting.use(composeReporter(deps, cloud, resources, applier, hide));

  await serving.start();
  const announced = await port.announce(serving.port);
  if (announced !== undefined) starting.use(announced);
  data.capture.start();
  data.reclaim.start();
  graph.start();
  const { settled } = await applier.apply(written);
  starting.use(source).start(
    (config) => applier.apply(config),
    async (config) => {
      const maintenance = config.maintenance && maintenanceOf((await runInTurns(environment.resolve(config))).config);
      return holdReason(graph, maintenance, clock);
    },
  );
  await settled;
  signal.throwIfAborted();
  running = true;
  reporter?.start();
  if (cloud !== undefined) {
    const { control, reach } = cloud;
    starting.use(
      relayLink({
        connect: () => control,
        partId,
        server: serving.relayed,
        reach,
        clock,
        log: log.child('cloud-link'),
      }),
    );
    peers.start();
    const waiting = [reporter, cloud.callRecord, data.sync, data.gaps, packages, port.certificate];
    starting.use(
      reach.onRetry(() => {
        for (const each of waiting) each?.retry();
      }),
    );
  }
  const { sync, capture } = data;
  starting.use(
    composeDiagnostics({
      ...{ settings, telemetry, graph, capture, sync, requests: serving.requests, partId },
      ...{ revision: () => applier.applied.revision, clock, log: log.child('ftdc') },
    }),
  );
  const unwinding = starting.move();
  return { serving, sync, capture, graph, modules, [Symbol.asyncDispose]: () => unwinding.disposeAsync() };
}

/** The report to the cloud about this server. */
function composeReporter(
  { clock, serverLog }: MachineServerDeps,
  { link, partId, watch }: CloudParts,
  { packages, modules, remotes, graph, data }: ResourceParts,
  applier: ConfigApplier,
  hide: (text: string) => string,
): StatusReporter {
  return new StatusReporter({
    ...{ link, partId, version, clock, log: serverLog.log.child('cloud-link') },
    status: () => ({
      appliedRevision: applier.applied.revision,
      heldRevision: watch.held?.revision ?? '',
      heldReason: watch.held?.reason ?? '',
      lastError: hide(
        [
          watch.problem,
          applier.error,
          packages.errors(),
          modules.errors(),
          remotes.errors(),
          graph.errors(),
          data.capture.errors(),
        ]
          .filter((text) => text !== '')
          .join('\n'),
      ),
    }),
    dataStatus: () => dataTotals({ ...data, clock }),
    onForced: (revision) => watch.force(revision),
  });
}
