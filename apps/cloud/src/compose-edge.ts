/** The edge: every API service and every plain HTTP route that the one port serves. */
import type { ClockAndLog } from '@platform/base';
import { version } from '@platform/base';
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { DatasetService } from '@platform/proto/platform/app/dataset/v1/dataset';
import { PackageService } from '@platform/proto/platform/app/packages/v1/packages';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { BillingService } from '@platform/proto/platform/app/v1/billing';
import { TriggerService } from '@platform/proto/platform/app/v1/triggers';
import { InvoiceService, PriceService } from '@platform/proto/platform/billing/v1/billing';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { SeriesService } from '@platform/proto/platform/series/v1/series';
import { createRpcServer, limitRequests, meterCalls, type RpcServer, serve } from '@platform/rpc/server';
import { authBinding } from './access/auth-rpc.ts';
import { type CloudBinding, callerFields, type Principal } from './access/principal.ts';
import type { Limits } from './admin/limits.ts';
import { limitHandlers } from './admin/limits-rpc.ts';
import type { Billing } from './billing/feature.ts';
import type { DataPlane } from './compose-data-plane.ts';
import type { Fleet } from './compose-fleet.ts';
import type { Outgoing } from './compose-outbox.ts';
import type { People } from './compose-people.ts';
import type { Connect } from './connect/feature.ts';
import { createAuthenticateCall } from './edge/authenticate-call.ts';
import type { Metrics } from './edge/metrics/metrics.ts';
import { metricsRoute } from './edge/metrics/metrics-route.ts';
import { notificationRoute } from './edge/notification-route.ts';
import { pageHeadersOf } from './edge/own-pages.ts';
import { paymentEventsRoute } from './edge/payment-events-route.ts';
import { principalOfRequest } from './edge/principal-of-request.ts';
import { queryRoute } from './edge/query-route.ts';
import { createRoutes } from './edge/routes.ts';
import { readStatus } from './edge/status.ts';
import { unsubscribeRoute } from './edge/unsubscribe-route.ts';
import { createWebUi } from './edge/web/web-ui.ts';
import { gapBinding } from './gaps/feature.ts';
import { freeBytesOf } from './ingest/disk/free-space.ts';
import type { IngestLog } from './ingest/log/log.ts';
import type { InstanceKey } from './instance/instance-key.ts';
import type { TlsSource } from './instance/tls-source.ts';
import { liveBinding } from './live/feature.ts';
import { logHandlers } from './machines/logs/rpc.ts';
import { partConfigFile } from './machines/part-config-file.ts';
import { transitionsOf } from './machines/presence/store.ts';
import type { Database } from './metadata/tables.ts';
import type { Relay } from './relay/feature.ts';
import { requestLimits } from './request-limits.ts';
import { isLoopback, type Settings } from './settings.ts';
import { createCallQueue } from './signaling/call-queue.ts';
import { createIceServers } from './signaling/ice-servers.ts';
import { signalingBinding } from './signaling/signaling-rpc.ts';
import type { TestInbox } from './test-inbox/feature.ts';
import { triggerHandlers } from './trigger-service/feature.ts';
import type { Watchdog } from './watchdog/feature.ts';
import type { HttpRequest } from './wire/route.ts';

export interface EdgeDeps
  extends ClockAndLog,
    Pick<Settings, 'trustedProxies' | 'metricsToken' | 'webUi' | 'command' | 'ice'> {
  readonly fleet: Fleet;
  readonly people: People;
  readonly testInbox: TestInbox;
  readonly outgoing: Outgoing;
  readonly ingestLog: IngestLog;
  readonly dataPlane: DataPlane;
  readonly billing: Pick<Billing, 'handlers' | 'priceHandlers' | 'invoiceHandlers' | 'receiveEvent'>;
  readonly db: Database;
  readonly instanceKey: Pick<InstanceKey, 'verify' | 'encrypt'>;
  readonly limits: Limits;
  readonly relay: Relay;
  readonly connect: Connect;
  readonly watchdog: Watchdog;
  /** Address on which the cloud will listen. */
  readonly host: string;
  /** Names of the cloud that somebody has configured. */
  readonly namedHosts: readonly string[];
  /** PLATFORM_PUBLIC_URL. */
  readonly publicUrl: string | undefined;
  readonly scheme: 'http' | 'https';
  /** Absent: plaintext. */
  readonly tls: TlsSource | undefined;
  readonly metrics: Metrics;
  /** For the free space of its disk. */
  readonly dataDirectory: string;
  readonly startedMs: number;
}

const openMethods = ['/proto.rpc.v1.AuthService/Authenticate'];

/** The returned server does not listen yet. */
export function composeEdge(deps: EdgeDeps): RpcServer {
  const {
    relay,
    connect,
    watchdog,
    testInbox,
    outgoing,
    ingestLog,
    host,
    scheme,
    tls,
    metrics,
    metricsToken,
    dataDirectory,
    startedMs,
    clock,
    log,
  } = deps;
  const { outbox } = outgoing;
  const { tree, registry, access, fragments, machines, authenticator, accessRpc, accounts } = deps.fleet;
  const { identity, signIn, browserSession } = deps.people;
  const { tabular, triggers, binary, packages, ingest, queries } = deps.dataPlane;
  const { presence, logs } = machines;

  const principalOf = async (request: HttpRequest): Promise<Principal> => {
    const principal = await principalOfRequest({ authenticator, signIn }, request);
    watchdog.admit(principal);
    return principal;
  };
  const routes = createRoutes({
    signIn,
    access,
    webUi: deps.webUi === undefined ? undefined : createWebUi(deps.webUi, deps.command),
    command: deps.command,
    admitStranger: watchdog.admitStranger,
    principalOf,
    log: log.child('edge'),
    loopbackOnly: isLoopback(host),
    namedHosts: deps.namedHosts,
    unknownAddress: deps.people.unknownAddress,
    publicUrl: deps.publicUrl,
    scheme,
    partConfig: (asked) =>
      partConfigFile({ authenticator, access, registry, machines, authority: tls?.authority?.pem }, asked),
    status: (principal) =>
      readStatus(
        {
          access,
          tree,
          registry,
          presence,
          partStatuses: machines.statuses,
          ingestLog,
          tabular,
          outbox,
          triggers,
          testInbox,
          startedMs,
          now: clock.now,
        },
        principal,
      ),
    // Loaded on demand: few installations need it.
    openApi: async () =>
      (await import('./edge/openapi/openapi-document.ts')).openApiDocument({
        services: own,
        open: openMethods,
        version,
      }),
    metrics: metricsRoute({
      text: () =>
        metrics.text({
          ...{ ingestLog, ingest, tabular, triggers, binary, outbox, tree, registry, presence, startedMs },
          freeBytes: () => freeBytesOf(dataDirectory),
        }),
      token: metricsToken,
      loopbackOnly: isLoopback(host),
    }),
    routes: [
      testInbox.handle,
      queryRoute({ queries, principalOf }),
      (request, response, url) => ingest.uploadRoute(request, response, url, principalOf),
      connect.routes,
      unsubscribeRoute({
        db: deps.db,
        instanceKey: deps.instanceKey,
        organizationName: (id) => tree.organization(id)?.name,
        clock,
      }),
      paymentEventsRoute(deps.billing.receiveEvent),
    ],
    readRoutes: [
      binary.download,
      packages.download,
      notificationRoute({ db: deps.db, signIn, access, zoneOf: outgoing.zoneOf }),
      accounts.logoRoute,
    ],
  });
  const hasLink = (partId: string): boolean => deps.fleet.links.of(partId) !== undefined;
  const bound: readonly CloudBinding[] = [
    authBinding(authenticator, ({ metadata, peerAddress }) =>
      browserSession.guesserOf(pageHeadersOf(metadata), peerAddress),
    ),
    serve(AppService, {
      ...accounts.appHandlers,
      ...machines.appHandlers,
      ...fragments.appHandlers,
      ...accessRpc.appHandlers,
      ...identity.appHandlers,
      ...packages.appHandlers,
      ...logHandlers({ access, logs, clock, recheck: authenticator.recheck }),
    }),
    serve(FleetService, {
      ...accessRpc.fleetHandlers,
      ...machines.fleetHandlers,
      ...connect.fleetHandlers,
      ...accounts.fleetHandlers,
      ...limitHandlers({ db: deps.db, access, limits: deps.limits, now: clock.now }),
    }),
    machines.robotBinding,
    signalingBinding({
      ...{ names: deps.fleet.names, access, iceServers: createIceServers(deps.ice, clock) },
      ...{ hasLink, queue: createCallQueue({ hasLink, clock }) },
      authorizeAnswer: machines.authorizeAnswer,
      saw: machines.sawCall,
      ticketOf: authenticator.ticketOf,
      recheck: authenticator.recheck,
      onReport: metrics.observeDial,
      clock,
    }),
    ...ingest.bindings,
    gapBinding({ db: deps.db, access, registry }),
    liveBinding({
      ...{ access, tree, registry, presence, statuses: machines.statuses, logs, ingestLog, clock },
      statusOf: machines.statusOf,
      recheck: authenticator.recheck,
      questions: relay.questions,
      log: log.child('live'),
    }),
    serve(
      TriggerService,
      triggerHandlers({
        ...{
          db: deps.db,
          instanceKey: deps.instanceKey,
          access,
          tree,
          registry,
          configOf: machines.triggersOf,
          outbox,
          clock,
        },
        triggersIfSaved: machines.triggersIfSaved,
        placeOf: registry.findPlace,
        dryRun: {
          arrivals: tabular.arrivals,
          logs,
          transitions: (partId, fromMs, untilMs) => transitionsOf(deps.db, partId, fromMs, untilMs),
          monotonic: clock.monotonic,
        },
        ...{ targetRefusal: outgoing.targetRefusal, keptBecause: outgoing.keptBecause, zoneOf: outgoing.zoneOf },
        pushApplicationOf: async (organizationId) => (await accounts.pushConfiguration(organizationId))?.appId,
      }),
    ),
    serve(SeriesService, queries.seriesHandlers),
    serve(DataService, { ...queries.dataHandlers, ...binary.dataHandlers }),
    serve(DatasetService, binary.datasetHandlers),
    serve(BillingService, deps.billing.handlers),
    serve(PriceService, deps.billing.priceHandlers),
    serve(InvoiceService, deps.billing.invoiceHandlers),
    serve(PackageService, packages.handlers),
    relay.binding,
  ];
  const own = meterCalls(limitRequests(bound, requestLimits), metrics.observeCall, clock);
  // Not in the API document: machines answer these calls, and may be older or newer.
  const services = [...own, ...meterCalls(relay.relayed, metrics.observeCall, clock)];
  return createRpcServer<Principal>({
    services,
    authenticate: createAuthenticateCall({
      authenticator,
      browserSession,
      watchdog,
      presence,
      competing: machines.competing,
    }),
    open: openMethods,
    admitOpen: watchdog.admitStranger,
    enter: watchdog.enter,
    forwardCalls: relay.forwardCalls(metrics.observeCall),
    ...(tls && { tls: tls.certificate }),
    trustedProxies: deps.trustedProxies,
    fallback: routes,
    callerFields,
    log: log.child('rpc'),
  });
}
