/** All wiring of the machine-server, top to bottom: configuration → resources → capture → sync → cloud. */
import { type Clock, errorText } from '@platform/base';
import { fromRobotConfig } from '@platform/machine-config/robot-config';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import type { ResourceDescriptor } from '@platform/resources';
import { connect, type Link } from '@platform/rpc/client';
import { Capture } from './capture/capture.ts';
import { readDocument } from './capture/read-document.ts';
import { watchNeedsRestart } from './cloud-link/needs-restart.ts';
import { reportStatus, type StatusReporter } from './cloud-link/report-status.ts';
import { shipLogs } from './cloud-link/ship-logs.ts';
import { type ConfigFile, readConfigFile } from './config/credentials.ts';
import { holdReason } from './config/hold-reason.ts';
import { readLocalConfig } from './config/local-config.ts';
import { notSupported } from './config/not-supported.ts';
import { ConfigWatch } from './config/watch-config.ts';
import { checkHome } from './directories/check-home.ts';
import { Directories } from './directories/directories.ts';
import { diskStorage } from './directories/disk-storage.ts';
import { SeqLedger } from './directories/seq-ledger.ts';
import { Graph } from './graph/graph.ts';
import type { ServerLog } from './logging/server-log.ts';
import type { builtInModels } from './models/built-in.ts';
import { MachineAuth, secretsOf } from './serve/authenticate.ts';
import { type Serving, startServing } from './serve/serve.ts';
import type { Settings } from './settings.ts';
import { Reclaim } from './sync/reclaim.ts';
import { Sync } from './sync/sync.ts';
import { version } from './version.ts';

export interface MachineServer extends AsyncDisposable {
  readonly serving: Serving;
  readonly sync: Sync;
  readonly capture: Capture;
  readonly graph: Graph;
}

export interface ComposeOptions {
  readonly settings: Settings;
  readonly configFile: string;
  /** What is served and captured. */
  readonly types: readonly ResourceDescriptor[];
  /** What can be built. */
  readonly models: typeof builtInModels;
  readonly clock: Clock;
  readonly serverLog: ServerLog;
  /** Ends a start in progress. */
  readonly signal: AbortSignal;
  /** Called when the cloud asks for a restart. */
  readonly restart: () => void;
}

const lastSyncMs = 2_000;

export async function startMachineServer(options: ComposeOptions): Promise<MachineServer> {
  const { settings, types, clock, serverLog, signal } = options;
  const { log, levels } = serverLog;
  await using starting = new AsyncDisposableStack();

  const file: ConfigFile = await readConfigFile(options.configFile);
  await checkHome(settings.home, log.child('machine-server'));
  const credentials = file.kind === 'cloud' ? file.credentials : undefined;
  const partId = credentials?.partId ?? '';
  const link: Link | undefined =
    credentials === undefined
      ? undefined
      : starting.use(
          connect({
            baseUrl: credentials.appAddress,
            credentials: { entity: credentials.entity, type: credentials.type, payload: credentials.payload },
            allowInsecureCredentials: settings.allowInsecureCredentials,
            ...(credentials.ca !== undefined && { ca: credentials.ca }),
            userAgent: `platform-machine-server/${version}`,
          }),
        );
  const watch =
    link === undefined || credentials === undefined
      ? undefined
      : new ConfigWatch({
          link,
          credentials,
          home: settings.home,
          readTimeoutMs: settings.configReadTimeoutMs,
          clock,
          log: log.child('config'),
        });
  const first = watch === undefined ? await readLocalConfig(file) : await watch.first(signal);
  if (link !== undefined) {
    const shipper = starting.use(shipLogs(link, partId, clock));
    serverLog.onLine((line) => shipper.add(line));
    starting.use(watchNeedsRestart(link, partId, options.restart, clock, log.child('cloud-link')));
  }

  const ledger = new SeqLedger();
  const directories = starting.use(new Directories(settings.home, ledger, clock, log.child('capture')));
  await directories.start();
  signal.throwIfAborted();
  const survey = new AbortController();
  const surveyed = directories
    .survey(survey.signal)
    .catch((caught) => log.warn('what earlier starts left could not be listed', { error: String(caught) }));
  starting.defer(async () => {
    survey.abort();
    await surveyed;
  });

  const graph = starting.use(
    new Graph({
      models: options.models(clock, () => ({
        ...{ types, capture, sync, reclaim, home: settings.home },
        untrusted: settings.untrustedEnvironment,
        log: log.child('data_manager'),
      })),
      configureTimeoutMs: settings.resourceConfigureTimeoutMs,
      clock,
      log: log.child('resources'),
    }),
  );
  const sync = starting.use(
    new Sync({
      partId,
      link,
      ledger,
      captureDirectories: () => directories.owned(),
      seal: () => capture.seal(),
      clock,
      log: log.child('sync'),
    }),
  );
  const reclaim = starting.use(
    new Reclaim({
      directories: () => directories.owned(),
      sending: (path) => sync.sending(path),
      ledger,
      clock,
      log: log.child('sync'),
    }),
  );
  // A running pass may have begun before the last files were sealed, hence two.
  // Before capture closes its files, so that it comes after it when unwinding: drained, sealed, then sent once more.
  starting.defer(() => Promise.race([sync.flush().then(() => sync.flush()), clock.sleep(lastSyncMs)]));
  const capture: Capture = starting.use(
    new Capture({
      partId,
      storage: diskStorage,
      ledger,
      directories,
      read: readDocument(graph, types),
      clock,
      log: log.child('capture'),
    }),
  );

  const auth = new MachineAuth();
  let wanted: RobotConfig = first;
  let applied: RobotConfig = first;
  let warnedOf: string | undefined;
  let appliedMs = clock.now();
  let appliedRevision = '';
  let applyError = '';
  let reporter: StatusReporter | undefined;
  /** Begins; resolves when every resource was built or failed once. */
  const begin = (message: RobotConfig): Promise<void> => {
    const config = fromRobotConfig(message);
    const resources = [...config.components, ...config.services];
    serverLog.deduplicate = !config.disable_log_deduplication;
    const own = resources.flatMap(({ name, log_configuration }) =>
      log_configuration === undefined ? [] : [[name, log_configuration.level] as const],
    );
    for (const problem of levels.set({
      debug: settings.debug || config.debug,
      patterns: config.log,
      resources: new Map(own),
    }))
      log.warn(problem);
    auth.configure(secretsOf(message));
    if (warnedOf !== message.revision) for (const line of notSupported(config)) log.warn(line);
    warnedOf = message.revision;
    return graph.apply(resources, message.revision);
  };
  const failed = (message: RobotConfig, caught: unknown): void => {
    applyError = `revision ${message.revision} could not be applied: ${errorText(caught)}`;
    reporter?.changed();
  };
  /** Throws when it cannot be applied. A resource that takes its time holds no later configuration: that is what `settled` is for. */
  const apply = (message: RobotConfig): { settled: Promise<void> } => {
    wanted = message;
    try {
      const settled = begin(message).then(() => {
        if (wanted !== message) return;
        applied = message;
        appliedMs = clock.now();
        appliedRevision = message.revision;
        applyError = '';
        const resources = message.components.length + message.services.length;
        log.info('configuration applied', { revision: message.revision, resources });
        reporter?.changed();
      });
      return { settled: settled.catch((caught) => failed(message, caught)) };
    } catch (caught) {
      failed(message, caught);
      throw caught;
    }
  };
  let running = false;
  auth.configure(secretsOf(first));
  const serving = starting.use(
    await startServing({
      graph,
      types,
      auth,
      facts: () => ({
        version,
        revision: applied.revision,
        appliedMs,
        running,
        cloud: {
          primaryOrgId: applied.cloud?.primaryOrgId ?? '',
          locationId: applied.cloud?.locationId ?? '',
          machineId: applied.cloud?.machineId ?? '',
          machinePartId: partId,
        },
      }),
      requestsLimit: settings.resourceRequestsLimit,
      bindAddress: first.network?.bindAddress || settings.bindAddress,
      log: log.child('serve'),
    }),
  );
  capture.start();
  reclaim.start();
  graph.start();
  const { settled } = apply(first);
  if (watch !== undefined) {
    starting.use(watch);
    watch.start(apply, (message) => holdReason(graph, fromRobotConfig(message).maintenance, clock));
  }
  await settled;
  signal.throwIfAborted();
  running = true;
  if (link !== undefined) {
    reporter = starting.use(
      reportStatus({
        link,
        partId,
        version,
        status: () => ({
          appliedRevision,
          heldRevision: watch?.held?.revision ?? '',
          heldReason: watch?.held?.reason ?? '',
          lastError: applyError || graph.errors(),
        }),
        onForced: (revision) => watch?.force(revision),
        clock,
        log: log.child('cloud-link'),
      }),
    );
  }
  const unwinding = starting.move();
  return { serving, sync, capture, graph, [Symbol.asyncDispose]: () => unwinding.disposeAsync() };
}
