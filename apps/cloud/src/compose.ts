/**
 * Composes the whole cloud by hand; read from top to bottom, it shows the architecture. Closely related parts have their own files:
 * accounts and machines in compose-fleet.ts, webhooks and e-mail in compose-outbox.ts, people and sign-in in compose-people.ts, readings,
 * binary data, triggers and queries in compose-data-plane.ts, usage and prices in compose-billing.ts, services and routes of the port in
 * compose-edge.ts.
 *
 * Start order (I14): data directory → metadata and log → accept uploads → sweep orphans → replay hot rows → answer queries → followers.
 * Shutdown runs in reverse order.
 */
import { errorText, systemClock } from '@platform/base';
import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import { closeLeftOpen } from './access/counted-entries.ts';
import { readOwnerKey } from './access/keys.ts';
import { openAllowedTargets } from './admin/allowed-targets.ts';
import { cloudStatus } from './admin/cloud-status.ts';
import { controlName, openControlServer } from './admin/control-channel.ts';
import { createAdmin } from './admin/feature.ts';
import { openLimits } from './admin/limits.ts';
import type { Billing } from './billing/feature.ts';
import { createLiveUsage } from './billing/meter/live-usage.ts';
import { checkStores } from './check-stores.ts';
import { composeBilling } from './compose-billing.ts';
import { composeDataPlane } from './compose-data-plane.ts';
import { composeEdge } from './compose-edge.ts';
import { composeFleet } from './compose-fleet.ts';
import { composeOutbox } from './compose-outbox.ts';
import { composePeople } from './compose-people.ts';
import { createConnect } from './connect/feature.ts';
import { dataVersion, requireReadableDirectory } from './data-directory.ts';
import type { DemoFile } from './demo/prepare-demo.ts';
import { startDemo } from './demo/start-demo.ts';
import { createMetrics } from './edge/metrics/metrics.ts';
import { testInboxReader } from './edge/test-inbox-access.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createOwnerLink } from './identity/feature.ts';
import { makeRoomToStart } from './ingest/disk/start-reserve.ts';
import { openIngestLog } from './ingest/log/open-ingest-log.ts';
import { createLogger } from './instance/create-logger.ts';
import { createDeletionPause } from './instance/deletion-pause.ts';
import { installationAuthority } from './instance/installation-authority.ts';
import { Parts } from './instance/parts.ts';
import { openTlsSource } from './instance/tls-source.ts';
import { openStores, type StoreTables } from './open-stores.ts';
import { createRelay } from './relay/feature.ts';
import { startRemoval } from './retention/remove-expired.ts';
import { certifiedHost, dialled, namedHosts, type Settings } from './settings.ts';
import { createTestInbox } from './test-inbox/feature.ts';
import { createWatchdog } from './watchdog/feature.ts';
import { endsFileName } from './watchdog/past-ends.ts';

/** What `platform up` receives once the cloud serves. The ids belong to the demo; ids of objects that do not exist are empty. */
export interface Ready extends Pick<DemoFile, 'organizationId' | 'locationId' | 'machineId' | 'partId' | 'keyId'> {
  readonly url: string;
  /** SHA-256 fingerprint of the installation's own authority, if it issued the certificate: installers pin it (D31). */
  readonly caFingerprint?: string;
  readonly machineName: string;
  /** On a first start only. */
  readonly key?: string;
  readonly signInLink: string;
  /** Why the demo is not running. */
  readonly demoProblem?: string;
  /** Directory of the copy that was made before this start changed tables. */
  readonly safetyCopy?: string;
}

export interface Cloud extends AsyncDisposable {
  readonly ready: Ready;
  /** Must be called once the process that started the cloud has had time to read `ready`. */
  saidReady(): void;
  /** The part that a stop is waiting for. */
  readonly stopping: string | undefined;
}

/** @param tables as in StoresDeps */
export async function composeCloud(settings: Settings, tables?: StoreTables): Promise<Cloud> {
  const clock = systemClock;
  const startedMs = clock.now();
  const log = createLogger(settings.logLevel, clock);
  await using unwind = new Parts();

  // A disk write failed before it was acknowledged: nothing more may be acknowledged (I2).
  const onFatal = (caught: unknown): never => {
    process.stderr.write(`cloud: stopping without answering: ${errorText(caught)}\n`);
    process.exit(70);
  };

  requireReadableDirectory(settings.dataDirectory);
  await makeRoomToStart(settings.dataDirectory, clock, log.child('ingest'));
  const { data, db, rows, instanceKey, keyFile, safetyCopy, sealDocuments } = unwind.use(
    'stores',
    await openStores(settings, { clock, log, onFatal, tables }),
  );
  const watchdog = unwind.use(
    'watchdog',
    createWatchdog({ file: data.at(endsFileName), clock, log: log.child('watchdog') }),
  );
  const ingestLog = unwind.use(
    'ingest log',
    await openIngestLog({
      file: data.at('ingest.sqlite'),
      database: settings.databaseUrl,
      watch: watchdog.setup,
      log: log.child('ingest'),
      clock,
      onFatal,
    }),
  );

  await checkStores(db, ingestLog, log.child('ingest'));
  const deletions = createDeletionPause();
  const limits = await openLimits(db);

  // Some functions below refer to values that are created further down; they are not called before the cloud serves.
  let port = settings.port;
  const scheme = settings.tls.kind === 'plaintext' ? 'http' : 'https';
  const metrics = createMetrics();
  const common = { db, instanceKey, settings, limits, clock, log, url: () => url };

  // Usage counted where it occurs; whatever counts it ends earlier.
  const liveUsage = unwind.use('live usage', createLiveUsage({ db, clock, log: log.child('billing') }));

  // Accounts and machines
  const fleet = await composeFleet({
    ...{ ...common, rows, liveUsage },
    triggersChanged: (trx, changes) => dataPlane.triggers.configurationsChanged(trx, changes),
    onTransitions: (transitions) => dataPlane.partTransitions(transitions),
    targetRefusal: (url, organizationId) => outgoing.targetRefusal(url, organizationId),
  });
  const { tree, registry, access, retention, keyUse, authenticator } = fleet;
  const { configurations, presence, logs } = fleet.machines;
  const allowedTargets = await openAllowedTargets({
    db,
    ownPorts: () => (settings.databasePort === undefined ? [port] : [port, settings.databasePort]),
    option: settings.webhookAllow,
    organizations: () => tree.organizations().map(({ id }) => id),
  });
  if (settings.webhookAllow.length > 0 && tree.organizations().length > 1)
    log.warn(
      '--webhook-allow is ignored, because it works only while there is one organization: use platform admin webhooks allow',
    );

  // Outgoing messages: webhooks and e-mail
  const outgoing = composeOutbox({
    ...common,
    metrics,
    fleet,
    testInbox: () => testInbox,
    billing: () => billing,
    ownAddress: () => ({ host: dialled(settings), port }),
    ownAuthority: () => tls?.authority?.pem,
    loopback: allowedTargets,
  });
  const { outbox, mail } = outgoing;
  unwind.use('outbox', outbox);

  // People
  const people = unwind.use('people', await composePeople({ ...common, fleet, mail, scheme }));
  const { identity, signIn } = people;

  // The built-in test inbox
  let demoKeyId: string | undefined;
  const testInbox = createTestInbox({
    clock,
    readerOf: (request) => testInboxReader({ authenticator, signIn, access, demoKeyId: () => demoKeyId }, request),
  });
  // Readings and binary data: log → rows, log → triggers, log → binary data
  const dataPlane = unwind.use(
    'data plane',
    await composeDataPlane({ ...common, data, rows, ingestLog, fleet, signIn, outbox, deletions, liveUsage, scheme }),
  );
  const { tabular, triggers, binary, packages, ingest, queries } = dataPlane;

  // Usage, prices, invoices and payments
  const billing: Billing = unwind.use(
    'billing',
    await composeBilling({ ...common, ingestLog, fleet, mail, liveUsage }),
  );
  unwind.use('presence', presence);

  // Remote control
  await closeLeftOpen(db);
  const relay = unwind.use(
    'remote control',
    createRelay({
      ...{
        db,
        links: fleet.links,
        names: fleet.names,
        tree,
        registry,
        presence,
        access,
        clock,
        log: log.child('relay'),
      },
      authorizeAnswer: fleet.machines.authorizeAnswer,
      heard: fleet.machines.sawOnLink,
      reports: (partId) => fleet.machines.statuses.of(partId).applied_revision !== '',
      recheck: authenticator.recheck,
      principalOfTicket: authenticator.principalOfTicket,
      onPassed: (organizationId, bytes) => liveUsage.add(organizationId, UsageCostType.REMOTE_CONTROL, bytes),
    }),
  );

  // The edge
  const tls =
    settings.tls.kind === 'plaintext'
      ? undefined
      : await openTlsSource(settings.tls, {
          authority: () => installationAuthority(db, instanceKey, clock.now()),
          host: settings.host,
          machineDomain: settings.machineDomain,
          clock,
          log: log.child('tls'),
        });
  let certificate = tls?.certificate;
  const connect = createConnect({
    ...{ db, access, authenticator, registry, clock, machineServer: settings.machineServer },
    authority: () => tls?.authority?.pem,
    certificate: () => certificate?.cert,
  });
  const server = unwind.use(
    'edge',
    composeEdge({
      db,
      limits,
      instanceKey,
      fleet,
      people,
      testInbox,
      outgoing,
      ingestLog,
      dataPlane,
      billing,
      relay,
      connect,
      watchdog,
      host: settings.host,
      trustedProxies: settings.trustedProxies,
      namedHosts: namedHosts(settings),
      publicUrl: settings.identity.publicUrl,
      scheme,
      tls,
      metrics,
      metricsToken: settings.metricsToken,
      webUi: settings.webUi,
      command: settings.command,
      ice: settings.ice,
      dataDirectory: data.path,
      startedMs,
      clock,
      log,
    }),
  );
  ({ port } = await server.listen({ host: settings.host, port: settings.port }));
  if (tls !== undefined)
    unwind.use(
      'certificate',
      tls.watch((renewed) => {
        certificate = renewed;
        server.setTls(renewed);
      }),
    );
  const url = `${scheme}://${certifiedHost(settings, certificate?.cert) ?? dialled(settings)}:${port}`;

  const ownerToken = await createOwnerLink({ db, clock });
  // The demo and the organization of the first start may have been deleted; the cloud serves what remains.
  const [firstOrganization] = tree.organizations().toSorted((a, b) => a.created_ms - b.created_ms);
  const owner = firstOrganization && (await readOwnerKey(db, instanceKey, firstOrganization.id));
  const { demo, problem: demoProblem } = await startDemo(
    { db, instanceKey, tree, registry, configurations, file: data.at('demo.json'), nowMs: clock.now(), log },
    firstOrganization?.id,
    url,
  );
  demoKeyId = demo?.keyId;

  await tabular.start();
  await triggers.start();
  await binary.start();
  await billing.start();
  outbox.start();
  identity.start();
  presence.start();
  rows.start();
  queries.start();
  unwind.use(
    'housekeeping',
    startHousekeeping({
      ingest,
      ingestLog,
      tabular,
      triggers,
      binary,
      billing,
      packages,
      keyUse,
      db,
      logs,
      deletions,
      directory: data.path,
      clock,
      log,
    }),
  );

  unwind.use(
    'removal of expired data',
    startRemoval({ db, retention, tabular, deletions, clock, log: log.child('retention') }),
  );

  // The host administrator
  const admin = createAdmin({
    db,
    rows,
    ingestLog,
    limits,
    allowedTargets,
    instanceKey,
    keyFile,
    sealDocuments,
    deletions,
    clock,
    log: log.child('admin'),
    loadAgain: () => tabular.loadAgain(),
    status: () =>
      cloudStatus({
        ...{ dataVersion, startedMs, url, ingestLog, ingest, tabular, binary, rows },
        organizations: () => tree.organizations().length,
        allowPrivateWebhookTargets: settings.allowPrivateWebhookTargets,
        dataDirectory: data.path,
        caFingerprint: tls?.authority?.fingerprint,
      }),
  });
  const control = await openControlServer(data.at(controlName), admin, log.child('admin'));
  if (control !== undefined) unwind.use('control channel', control);

  watchdog.start({ ownThread: settings.databaseUrl !== undefined });

  const running = unwind.move();
  return {
    ready: {
      url,
      ...(tls?.authority && { caFingerprint: tls.authority.fingerprint }),
      organizationId: demo?.organizationId ?? '',
      locationId: demo?.locationId ?? '',
      machineId: demo?.machineId ?? '',
      machineName: registry.machine(demo?.machineId ?? '')?.name ?? '',
      partId: demo?.partId ?? '',
      keyId: owner?.id ?? '',
      // If a start was killed before it could print the key, the next one is still a first start.
      ...(data.isNew && owner ? { key: owner.key } : {}),
      signInLink: `${url}/sign-in${ownerToken === undefined ? '' : `?token=${ownerToken}`}`,
      ...(demoProblem !== undefined && { demoProblem }),
      ...(safetyCopy !== undefined && { safetyCopy }),
    },
    saidReady: () => data.complete(),
    get stopping() {
      return running.stopping;
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}
