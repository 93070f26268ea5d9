/** The data plane: uploads are appended to the log; rows, notifications and binary data are derived from it; queries read the rows. */
import type { ClockAndLog } from '@platform/base';
import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import { expiringKeys } from './access/keys-by-place.ts';
import type { Principal } from './access/principal.ts';
import { type Binary, createBinary } from './binary/feature.ts';
import { openBlobStore } from './blobs/blob-store.ts';
import type { Fleet, FleetDeps } from './compose-fleet.ts';
import { principalOfRequest } from './edge/principal-of-request.ts';
import { requestOrigin } from './edge/request-origin.ts';
import type { SignIn } from './edge/sign-in/sign-in.ts';
import { lostReadings } from './gaps/feature.ts';
import { freeBytesOf, freeInodesOf } from './ingest/disk/free-space.ts';
import { createIngest, type Ingest } from './ingest/feature.ts';
import type { IngestLog } from './ingest/log/log.ts';
import type { DeletionPause } from './instance/deletion-pause.ts';
import { Parts } from './instance/parts.ts';
import type { Machines } from './machines/feature.ts';
import type { Database } from './metadata/tables.ts';
import type { Stores } from './open-stores.ts';
import type { Outbox } from './outbox/feature.ts';
import { createPackages, type Packages } from './packages/feature.ts';
import { createQueries, type Queries } from './queries/feature.ts';
import type { Settings } from './settings.ts';
import { createTabular } from './tabular/feature.ts';
import { memoryLimitBytes } from './tabular/memory-limit.ts';
import { settingsWithin } from './tabular/settings.ts';
import type { Tabular } from './tabular/tabular.ts';
import { createTriggers, type Triggers } from './triggers/feature.ts';
import { createPartTransitions } from './triggers/part-transitions.ts';
import type { TimesDeps } from './triggers/times/check-times.ts';

export interface DataPlaneDeps
  extends Pick<Stores, 'data' | 'db' | 'rows' | 'instanceKey'>,
    ClockAndLog,
    Pick<FleetDeps, 'limits' | 'liveUsage' | 'url'> {
  readonly ingestLog: IngestLog;
  readonly fleet: Pick<
    Fleet,
    'tree' | 'registry' | 'access' | 'retention' | 'machines' | 'authenticator' | 'servedPackages' | 'organizationNamed'
  >;
  readonly signIn: SignIn;
  readonly outbox: Outbox;
  readonly settings: Pick<Settings, 'databaseUrl' | 'identity' | 'sealAgeMs' | 'scrubPeriodMs'>;
  readonly deletions: DeletionPause;
  /** Scheme under which clients reach the cloud, for the addresses it hands out. */
  readonly scheme: 'http' | 'https';
}

export interface DataPlane extends AsyncDisposable {
  /** The part that a stop is waiting for. */
  readonly stopping: string | undefined;
  readonly tabular: Tabular;
  readonly triggers: Triggers;
  /** Called when parts go online or offline. */
  readonly partTransitions: ReturnType<typeof createPartTransitions>;
  readonly binary: Binary;
  readonly packages: Packages;
  readonly ingest: Ingest<Principal>;
  readonly queries: Queries;
}

export async function composeDataPlane(deps: DataPlaneDeps): Promise<DataPlane> {
  const {
    data,
    db,
    rows,
    instanceKey,
    ingestLog,
    signIn,
    outbox,
    settings,
    limits,
    deletions,
    clock,
    log,
    scheme,
    url,
  } = deps;
  const counting =
    (type: UsageCostType) =>
    (organizationId: string, bytes: number): void =>
      deps.liveUsage.add(organizationId, type, bytes);
  const { tree, registry, access, retention, machines, authenticator, servedPackages, organizationNamed } = deps.fleet;
  await using unwind = new Parts();

  const blobs = await openBlobStore({ directory: data.at('blobs'), clock });
  const organizationOf = (partId: string): string | undefined => registry.findPlace(partId)?.organizationId;
  const tabular = unwind.use(
    'tabular store',
    createTabular({
      dataDir: data.path,
      database: settings.databaseUrl,
      db,
      ingestLog,
      log: log.child('tabular'),
      clock,
      deletions,
      monthlyScanBytesOf: (organizationId) => limits.limitOf(organizationId, 'query-bytes-per-month'),
      onScanned: counting(UsageCostType.TABULAR_DATA_DATABASE_COMPUTE),
      standingRulesOf: retention.standingRulesOf,
      settings: {
        ...settingsWithin(memoryLimitBytes()),
        ...(settings.sealAgeMs !== undefined && { sealAgeMs: settings.sealAgeMs }),
        ...(settings.scrubPeriodMs !== undefined && { scrubPeriodMs: settings.scrubPeriodMs }),
      },
      organizationOf,
    }),
  );
  const triggers = unwind.use(
    'triggers',
    createTriggers({
      ...{ db, ingestLog, configOf: machines.triggersOf, outbox, clock, log: log.child('triggers') },
      times: { placeOf: registry.findPlace, logs: machines.logs, factsOf: createFactsOf(db, machines) },
    }),
  );
  const principalOf: Parameters<typeof createPackages>[0]['principalOf'] = (request) =>
    principalOfRequest({ authenticator, signIn }, request);
  const baseUrl = (metadata: Headers): string =>
    settings.identity.publicUrl ?? requestOrigin(metadata, scheme) ?? url();
  const packages = createPackages({
    db,
    blobs,
    access,
    instanceKey,
    served: servedPackages,
    organizationNamed,
    namespaceOf: (organizationId) => tree.organization(organizationId)?.public_namespace ?? '',
    requireSpace: () => ingest.requireSpace(),
    standing: authenticator.standing,
    principalOf,
    baseUrl,
    clock,
    log: log.child('packages'),
  });
  const binary = unwind.use(
    'binary data',
    createBinary({
      db,
      rows,
      ingestLog,
      blobs,
      organizationOf,
      access,
      instanceKey,
      standing: authenticator.standing,
      principalOf,
      baseUrl,
      onSent: counting(UsageCostType.BINARY_DATA_EGRESS),
      clock,
      log: log.child('binary'),
    }),
  );
  const partTransitions = createPartTransitions({
    configOf: machines.triggersOf,
    placeOf: registry.findPlace,
    outbox,
    log: log.child('triggers'),
  });
  const ingest = createIngest<Principal>({
    ingestLog,
    blobs,
    clock,
    log: log.child('ingest'),
    keepsBlob: packages.hasArchive,
    stagingFolder: data.at('staged'),
    freeBytes: () => freeBytesOf(data.path),
    freeInodes: () => freeInodesOf(data.path),
    sealSoon: () => tabular.sealSoon(),
    findDeleted: async (upload) =>
      upload.hasPayload
        ? [await binary.isDeleted(upload.first.fileId, upload.first.position)]
        : tabular.deletedReadings(upload),
    store: tabular,
    authorizeUpload: async (principal, partId) => machines.authorizeUpload(principal, partId),
    heard: machines.sawCall,
    reportGap: ({ partId }, text) =>
      void machines.logs.appendOwn(partId, { level: 'error', loggerName: 'cloud.ingest', message: text }),
  });
  const queries = unwind.use(
    'queries',
    createQueries({
      tabular,
      db,
      access,
      onAnswered: counting(UsageCostType.TABULAR_DATA_EGRESS),
      clock,
      log: log.child('queries'),
      recheck: authenticator.recheck,
      names: {
        machineName: (id) => registry.machine(id)?.name ?? '',
        partName: (id) => registry.part(id)?.name ?? '',
        machinesNamed: (name) => registry.machinesNamed(name).map(({ id }) => id),
        partsNamed: (name) => registry.partsNamed(name).map(({ id }) => id),
      },
      fleetSizes: () =>
        tree.organizations().map(({ id }) => ({
          organizationId: id,
          machines: tree.locationsOf(id).reduce((sum, location) => sum + registry.machinesOf(location.id).length, 0),
        })),
    }),
  );
  const composed = unwind.move();
  return {
    ...{ tabular, triggers, partTransitions, binary, packages, ingest, queries },
    get stopping() {
      return composed.stopping;
    },
    [Symbol.asyncDispose]: () => composed[Symbol.asyncDispose](),
  };
}

/** What the cloud knows about a part, for the triggers about it (kinds/machine-facts.ts). */
function createFactsOf(
  db: Database,
  machines: Pick<Machines, 'presence' | 'triggersOf' | 'configurationFacts' | 'registry'>,
): TimesDeps['factsOf'] {
  return async (partId) => {
    const { state, changedMs } = machines.presence.of(partId);
    const captured = (await machines.triggersOf(partId))?.captured ?? [];
    return {
      onlineSinceMs: state === 'online' ? (changedMs ?? 0) : undefined,
      captured: captured.map(({ api, name, method, hz }) => ({
        ...{ componentType: api, componentName: name, methodName: method, hz },
      })),
      configuration: await machines.configurationFacts(partId),
      discarded: await lostReadings(db, partId),
      keys: await expiringKeys(db, machines.registry.part(partId)?.machine_id ?? ''),
    };
  };
}
