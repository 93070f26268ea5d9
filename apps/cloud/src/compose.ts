/**
 * All wiring of the cloud, by hand; read top to bottom it is the architecture.
 *
 * Start order (I14): data directory → metadata and log → accept uploads → sweep orphans → replay hot rows → answer
 * queries → followers. What is started is unwound in reverse.
 */
import { errorText, systemClock } from '@platform/base';
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { DatasetService } from '@platform/proto/platform/app/dataset/v1/dataset';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { createRpcServer, type ServiceBinding, serve } from '@platform/rpc/server';
import { authBinding } from './access/auth-rpc.ts';
import { createAuthenticator } from './access/authenticate.ts';
import { createAccess } from './access/authorize.ts';
import { accessHandlers } from './access/feature.ts';
import { createGuessLimit } from './access/guess-limit.ts';
import { createKeyUse } from './access/key-use.ts';
import { readOwnerKey } from './access/keys.ts';
import { holds, type Principal } from './access/principal.ts';
import { createAccounts } from './accounts/feature.ts';
import { createFirstAccount } from './accounts/first-start.ts';
import { openAccountTree } from './accounts/tree.ts';
import { controlName, openControlServer } from './admin/control-channel.ts';
import { createAdmin } from './admin/feature.ts';
import { openLimits } from './admin/limits.ts';
import { machineLogAllowance } from './admin/machine-log-allowance.ts';
import { createBinary } from './binary/feature.ts';
import { openBlobStore } from './blobs/blob-store.ts';
import { createCatcher } from './catcher/feature.ts';
import { checkStores } from './check-stores.ts';
import { dataVersion } from './data-directory.ts';
import { startDemo } from './demo/start-demo.ts';
import { addressOfCall } from './edge/address-of-call.ts';
import { principalOfRequest } from './edge/principal-of-request.ts';
import { maxRequestBytes } from './edge/request-limits.ts';
import { createRoutes } from './edge/routes.ts';
import { createSignIn } from './edge/sign-in/sign-in.ts';
import { readStatus } from './edge/status.ts';
import { createFragments } from './fragments/feature.ts';
import { beforeDelete as forgetInvitations } from './identity/before-delete.ts';
import { createIdentity, createOwnerLink } from './identity/feature.ts';
import { createSessions } from './identity/sessions.ts';
import { releaseBallastIfFull } from './ingest/ballast.ts';
import { freeBytesOf } from './ingest/free-space.ts';
import { createIngest } from './ingest/ingest.ts';
import { openIngestLog } from './ingest/open-ingest-log.ts';
import { version } from './instance/build-info.ts';
import { createLogger } from './instance/create-logger.ts';
import { createDeletionPause } from './instance/deletion-pause.ts';
import { installationAuthority } from './instance/installation-authority.ts';
import { openTlsSource } from './instance/tls-source.ts';
import { keepHouse } from './keep-house.ts';
import { createMachines } from './machines/feature.ts';
import { logHandlers } from './machines/logs/rpc.ts';
import { partConfigFile } from './machines/part-config-file.ts';
import { openRegistry } from './machines/registry.ts';
import { createMail } from './mail/feature.ts';
import { createNotify } from './notify/feature.ts';
import { openStores } from './open-stores.ts';
import { createQueries } from './queries/feature.ts';
import { forgetQueriesOf } from './queries/forget-organization.ts';
import { createRetention } from './retention/feature.ts';
import { keepRemoving } from './retention/remove-expired.ts';
import { dialled, isLoopback, type Settings } from './settings.ts';
import { createTabular } from './tabular/feature.ts';
import { createTriggers } from './triggers/feature.ts';
import { parseTriggers } from './triggers/parse-triggers.ts';
import { createPartTransitions } from './triggers/part-transitions.ts';

/** What `platform up` is told when the cloud serves. Ids are those of the demo; of what was never made, empty. */
export interface Ready {
  readonly url: string;
  /** SHA-256 of the installation's own authority, where it vouches for the cloud: what installers pin (D31). */
  readonly caFingerprint?: string;
  readonly organizationId: string;
  readonly locationId: string;
  readonly machineId: string;
  readonly partId: string;
  readonly keyId: string;
  /** On a first start only. */
  readonly key?: string;
  readonly signInLink: string;
}

export interface Cloud extends AsyncDisposable {
  readonly ready: Ready;
  /** Whoever started the cloud was told what `ready` says. */
  saidReady(): void;
}

const openMethods = ['/proto.rpc.v1.AuthService/Authenticate'];

export async function composeCloud(settings: Settings): Promise<Cloud> {
  const clock = systemClock;
  const startedMs = clock.now();
  const log = createLogger(settings.logLevel);
  await using unwind = new AsyncDisposableStack();

  // The disk failed under an unanswered write: nothing more may be acknowledged (I2).
  const onFatal = (caught: unknown): never => {
    process.stderr.write(`cloud: stopping without answering: ${errorText(caught)}\n`);
    process.exit(70);
  };

  releaseBallastIfFull(settings.dataDirectory);
  const { data, db, instanceKey, keyFile } = unwind.use(await openStores(settings, log, onFatal));
  const ingestLog = unwind.use(
    await openIngestLog({
      file: data.at('ingest.sqlite'),
      database: settings.databaseUrl,
      log: log.child('ingest'),
      clock,
      onFatal,
    }),
  );

  await checkStores(db, ingestLog, data.path);
  const deletions = createDeletionPause();
  const limits = await openLimits(db);

  // Accounts and machines
  await createFirstAccount(db, instanceKey, clock.now());
  const tree = await openAccountTree(db);
  const registry = await openRegistry(db, tree, instanceKey);
  const access = createAccess(tree, {
    locationOfMachine: (id) => registry.machine(id)?.location_id,
    machineOfPart: (id) => registry.part(id)?.machine_id,
  });
  const retention = createRetention({
    db,
    effectiveDocumentOf: async (partId) => {
      const { document } = await machines.configurations.current(partId);
      return (await fragments.effective(partId, JSON.parse(document))).document;
    },
    now: clock.now,
    log: log.child('retention'),
  });
  const fragments = createFragments({
    db,
    tree,
    access,
    clock,
    log: log.child('fragments'),
    triggerProblems: (saved, components) => parseTriggers(saved, components).problems,
    documentOf: async (partId) => JSON.parse((await machines.configurations.current(partId)).document),
    onTriggers: (trx, partId, document) => machines.effectiveChanged(trx, partId, document),
    onEffective: (trx, parts) => retention.configurationsChanged(trx, parts),
    tellPart: (partId, message) =>
      machines.logs.appendOwn(partId, { level: 'warn', loggerName: 'cloud.fragments', message }),
    maxFragmentsOf: (organizationId) => limits.limitOf(organizationId, 'fragments'),
  });
  const machines = await createMachines({
    logAllowanceOf: (partId) => machineLogAllowance(limits, registry.placeOf(partId).organizationId),
    db,
    tree,
    registry,
    access,
    effective: fragments,
    seesFragment: fragments.seesFragment,
    async onSaved(trx, partId, effective, document) {
      await fragments.partSaving(trx, partId, document, effective.document);
      await retention.configurationsChanged(trx, [{ partId, document: effective.document }]);
    },
    async onDeleting(trx, partId, by) {
      await fragments.partDeleting(trx, partId);
      await retention.partDeleting(trx, partId, by);
    },
    firstDocument: fragments.firstDocument,
    instanceKey,
    clock,
    log: log.child('machines'),
    triggerProblems: (saved, components) => parseTriggers(saved, components).problems,
    onSaving: (trx, partId, triggersSaved) => triggers.configurationSaved(trx, partId, triggersSaved),
    accessChanged: () => authenticator.forget(),
    onTransitions: (transitions) => partTransitions(transitions),
  });
  const { configurations, presence, logs } = machines;
  const guesses = createGuessLimit(clock);
  const keyUse = createKeyUse(db, clock);
  const sessions = createSessions({ db, instanceKey, clock, settings: settings.identity.sessions });
  const authenticator = createAuthenticator({
    db,
    instanceKey,
    partSecrets: machines.partSecrets,
    sessions,
    shares: tree,
    guesses,
    clock,
    keyUsed: (keyId) => keyUse.used(keyId),
  });
  const accessRpc = accessHandlers({
    db,
    instanceKey,
    access,
    keyUse,
    now: clock.now,
    rotationOverlapMs: settings.keyRotationOverlapMs,
    changed: () => authenticator.forget(),
  });
  const accounts = createAccounts({
    db,
    tree,
    access,
    instanceKey,
    clock,
    machinesOf: (locationId) => registry.machinesOf(locationId),
    seesFragment: fragments.seesFragment,
    baseUrl: () => url,
    accessChanged: () => authenticator.forget(),
    beforeDelete: [
      forgetInvitations,
      forgetQueriesOf,
      async (trx, deleted) => {
        if (deleted.kind === 'organization') await fragments.organizationDeleting(trx, deleted.organizationId);
      },
    ],
  });

  // People
  let port = settings.port;
  const mailSettings = settings.identity.mail;
  const mail =
    mailSettings && unwind.use(createMail({ db, clock, log: log.child('mail'), instanceKey, settings: mailSettings }));
  const identity = unwind.use(
    createIdentity({
      db,
      clock,
      log: log.child('identity'),
      sessions,
      guesses,
      access,
      tree,
      mail,
      publicUrl: () => settings.identity.publicUrl ?? url,
      invitationMailsPerDay: (organizationId) => limits.limitOf(organizationId, 'invitation-mails-per-day'),
      forget: () => authenticator.forget(),
      openIdSettings: settings.identity.openId,
    }),
  );
  const signIn = createSignIn({
    identity,
    instanceKey,
    log: log.child('edge'),
    principalOfToken: (token) => authenticator.principalOfToken(token),
  });
  const seesEverything = (principal: Principal): boolean =>
    tree.organizations().every(({ id }) => holds(principal, 'owner', { organizationId: id, locationIds: [] }));

  // Notifications
  let demoKeyId: string | undefined;
  const catcher = createCatcher({
    clock,
    authorize: async (request) => {
      const visitor = await signIn.principalOf(request);
      if (visitor !== undefined) return seesEverything(visitor);
      const metadata = new Headers({ authorization: request.headers.authorization ?? '' });
      return authenticator.principalOf(metadata).then(
        // What it caught is anybody's: for who owns everything, and for the demo that shows its own.
        (caller) => seesEverything(caller) || (caller.kind === 'key' && caller.keyId === demoKeyId),
        () => false,
      );
    },
  });
  const notify = unwind.use(
    createNotify({
      db,
      clock,
      log: log.child('notify'),
      version,
      ownAddress: () => ({ host: dialled(settings), port }),
      ownAuthority: () => tls?.authority?.pem,
      privateTargetsAllowed: () => settings.allowPrivateWebhookTargets ?? tree.organizations().length === 1,
      privateTargetsSetting: 'PLATFORM_WEBHOOK_ALLOW_PRIVATE',
      appendMachineLog: (partId, line) => logs.appendOwn(partId, line),
      async signingSecret(organizationId) {
        const organization = tree.organization(organizationId);
        return organization && instanceKey.decrypt(organization.webhook_secret);
      },
    }),
  );

  // Readings: log → rows, log → triggers, log → binary data
  const scheme = (): 'http' | 'https' => (settings.tls.kind === 'plaintext' ? 'http' : 'https');
  const blobs = await openBlobStore({ directory: data.at('blobs'), clock });
  const tabular = unwind.use(
    createTabular({
      dataDir: data.path,
      database: settings.databaseUrl,
      db,
      ingestLog,
      log: log.child('tabular'),
      clock,
      deletions,
      monthlyScanBytesOf: (organizationId) => limits.limitOf(organizationId, 'query-bytes-per-month'),
      standingRulesOf: retention.standingRulesOf,
    }),
  );
  const triggers = unwind.use(
    createTriggers({ db, ingestLog, configOf: machines.triggersOf, notify, clock, log: log.child('triggers') }),
  );
  const binary = unwind.use(
    createBinary({
      db,
      ingestLog,
      blobs,
      access,
      instanceKey,
      standing: authenticator.standing,
      principalOf: (request) => principalOfRequest({ authenticator, signIn }, request),
      baseUrl: (metadata) => settings.identity.publicUrl ?? addressOfCall(metadata, scheme()) ?? url,
      clock,
      log: log.child('binary'),
    }),
  );
  const partTransitions = createPartTransitions({
    configOf: machines.triggersOf,
    placeOf: (partId) => (registry.part(partId) === undefined ? undefined : registry.placeOf(partId)),
    notify,
    log: log.child('triggers'),
  });
  unwind.use(presence);
  const ingest = createIngest<Principal>({
    ingestLog,
    blobs,
    clock,
    log: log.child('ingest'),
    freeBytes: () => freeBytesOf(data.path),
    async authorizeUpload(principal, partId) {
      machines.authorizePart(principal, partId);
      machines.noteContact(principal, partId);
      return registry.placeOf(partId);
    },
    reportGap(place, text) {
      logs
        .appendOwn(place.partId, { level: 'error', loggerName: 'cloud.ingest', message: text })
        .catch((caught: unknown) =>
          log.error('refused readings not written to the machine log', { text, error: errorText(caught) }),
        );
    },
  });
  const queries = createQueries({
    tabular,
    db,
    access,
    clock,
    log: log.child('queries'),
    recheck: authenticator.recheck,
    names: {
      machineName: (id) => registry.machine(id)?.name ?? '',
      partName: (id) => registry.part(id)?.name ?? '',
      machinesNamed: (name) => registry.machinesNamed(name).map(({ id }) => id),
      partsNamed: (name) => registry.partsNamed(name).map(({ id }) => id),
    },
  });

  // The edge
  const tls =
    settings.tls.kind === 'plaintext'
      ? undefined
      : await openTlsSource(settings.tls, {
          authority: () => installationAuthority(db, instanceKey, clock.now()),
          host: settings.host,
          clock,
          log: log.child('tls'),
        });
  const routes = createRoutes({
    signIn,
    seesEverything,
    log: log.child('edge'),
    loopbackOnly: isLoopback(settings.host),
    scheme: scheme(),
    partConfig: (asked) =>
      partConfigFile({ authenticator, access, registry, machines, authority: tls?.authority?.pem }, asked),
    status: () =>
      readStatus({
        tree,
        registry,
        presence,
        partStatuses: machines.statuses,
        ingestLog,
        tabular,
        notify,
        triggers,
        catcher,
        startedMs,
        now: clock.now,
      }),
    catcher: async (request, response) => catcher.handle(request, response),
    binaryData: binary.download,
    logo: accounts.logoRoute,
  });
  const services: readonly ServiceBinding<Principal>[] = [
    authBinding(authenticator),
    serve(
      AppService,
      {
        ...accounts.handlers,
        ...machines.appHandlers,
        ...fragments.handlers,
        ...accessRpc.app,
        ...identity.appHandlers,
        ...logHandlers({ access, logs, clock, recheck: authenticator.recheck }),
      },
      { maxRequestBytes },
    ),
    serve(FleetService, { ...accessRpc.fleet, ...machines.fleetHandlers }, { maxRequestBytes }),
    machines.robotBinding,
    ...ingest.bindings,
    serve(DataService, { ...queries.handlers, ...binary.handlers }),
    serve(DatasetService, binary.datasetHandlers),
  ];
  const streaming = new Set(
    services.flatMap(({ methods }) => methods.filter(({ kind }) => kind !== 'unary').map(({ path }) => path)),
  );
  const server = unwind.use(
    createRpcServer<Principal>({
      services,
      async authenticate(call) {
        const principal = await authenticator.principalOf(call.metadata);
        // A part's own call is contact, whatever it asks for, and a stream is while it is open (D17).
        if (principal.kind === 'part' && streaming.has(call.method)) presence.attend(principal.partId, call.signal);
        else if (principal.kind === 'part') presence.saw(principal.partId);
        return principal;
      },
      open: openMethods,
      ...(tls && { tls: tls.certificate }),
      fallback: routes,
      log: log.child('rpc'),
    }),
  );
  ({ port } = await server.listen({ host: settings.host, port: settings.port }));
  if (tls !== undefined) unwind.use(tls.watch((certificate) => server.setTls(certificate)));
  const url = `${scheme()}://${dialled(settings)}:${port}`;

  const ownerToken = await createOwnerLink({ db, clock });
  // All of it may be deleted by now, the demo and the organization of the first start: the cloud serves what is left.
  const [firstOrganization] = tree.organizations().toSorted((a, b) => a.created_ms - b.created_ms);
  const owner = firstOrganization && (await readOwnerKey(db, instanceKey, firstOrganization.id));
  const demo = await startDemo(
    { db, instanceKey, tree, registry, configurations, file: data.at('demo.json'), nowMs: clock.now(), log },
    firstOrganization?.id,
    url,
  );
  demoKeyId = demo?.keyId;

  await retention.start();
  await tabular.start();
  await triggers.start();
  await binary.start();
  notify.start();
  mail?.start();
  identity.start();
  presence.start();
  unwind.use(
    keepHouse({
      ingest,
      ingestLog,
      tabular,
      triggers,
      binary,
      keyUse,
      logs,
      deletions,
      directory: data.path,
      clock,
      log,
    }),
  );

  unwind.use(keepRemoving({ db, retention, tabular, deletions, clock, log: log.child('retention') }));

  // The host administrator
  const admin = createAdmin({
    db,
    limits,
    instanceKey,
    keyFile,
    deletions,
    clock,
    log: log.child('admin'),
    running: true,
    status: async () => ({
      running: true,
      dataDirectory: data.path,
      version,
      dataVersion,
      processId: process.pid,
      startedMs,
      url,
      ...(tls?.authority && { caFingerprint: tls.authority.fingerprint }),
      organizations: tree.organizations().length,
      lastPosition: ingestLog.lastPosition(),
      sealedPosition: tabular.sealedPosition(),
      retainedBytes: ingestLog.retainedBytes(),
      freeBytes: await freeBytesOf(data.path),
    }),
  });
  const control = await openControlServer(data.at(controlName), admin, log.child('admin'));
  if (control !== undefined) unwind.use(control);

  const running = unwind.move();
  return {
    ready: {
      url,
      ...(tls?.authority && { caFingerprint: tls.authority.fingerprint }),
      organizationId: demo?.organizationId ?? '',
      locationId: demo?.locationId ?? '',
      machineId: demo?.machineId ?? '',
      partId: demo?.partId ?? '',
      keyId: owner?.id ?? '',
      // A start that was killed before it could say the key is still a first start.
      ...(data.isNew && owner ? { key: owner.key } : {}),
      signInLink: `${url}/sign-in${ownerToken === undefined ? '' : `?token=${ownerToken}`}`,
    },
    saidReady: () => data.complete(),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
