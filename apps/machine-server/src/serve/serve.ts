/** The machine's own port. */
import { durationMs } from '@bufbuild/protobuf/wkt';
import { failedPrecondition, type TrustedProxies } from '@platform/base';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import { nameFieldOf, type ResourceDescriptor } from '@platform/resources';
import {
  type AdmitConnection,
  type Call,
  type ChannelServer,
  createChannelServer,
  createRpcServer,
  createTunnelServer,
  type PageRule,
  type RpcServer,
  type ServiceBinding,
  type TunnelServer,
  type WatchCall,
  watchCalls,
} from '@platform/rpc/server';
import type { CallRecord } from '../call-record/call-record.ts';
import { type RecordCallsDeps, recordCalls } from '../call-record/record-calls.ts';
import type { CertificateSource } from '../certificate/certificate-pair.ts';
import type { ParentPort } from '../modules/modules-deps.ts';
import { connectionOwners } from '../modules/process/connection-owner.ts';
import type { Principal } from './authenticate.ts';
import type { BindAddress } from './bind-address.ts';
import { type MachineRpcDeps, machineRpc } from './machine-rpc.ts';
import { createOperations, type Operations } from './operations.ts';
import { type HttpPagesDeps, httpPages } from './pages/http-pages.ts';
import { createPageRule } from './pages/page-rule.ts';
import { openParentPort } from './parent-port.ts';
import { relayedPrincipal } from './relayed-principal.ts';
import { RequestCounts } from './request-counts.ts';
import { resourceRpc } from './resource-rpc.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createStopper, type Stopper } from './stop.ts';

export interface ServingDeps
  extends Omit<MachineRpcDeps, 'stopper' | 'sessions' | 'operations'>,
    Omit<HttpPagesDeps, 'operations'> {
  readonly requestsLimit: number;
  readonly trustedProxies: TrustedProxies;
  /** Observes calls. */
  readonly watchCall: WatchCall<Principal> | undefined;
  /** Gets the calls of direct callers that are more than reads; undefined without a cloud. */
  readonly callRecord: Pick<CallRecord, 'add'> | undefined;
  readonly bindAddress: BindAddress;
  /** Undefined if the port is in plaintext. */
  readonly certificate: CertificateSource | undefined;
  /** Signaling for callers in the network. */
  readonly signaling: ServiceBinding<Principal>;
  /** See ParentPortDeps. */
  readonly tcpModeTrusted: boolean;
}

const portsTried = 100;

export class Serving implements AsyncDisposable {
  readonly #deps: ServingDeps;
  #server: RpcServer | undefined;
  /** The port of the machine, and those of its modules. */
  readonly #servers = new Set<RpcServer<Principal>>();
  readonly #stopper: Stopper;
  readonly #sessions: Sessions;
  readonly #services: readonly ServiceBinding<Principal>[];
  /** Answers the calls that the cloud passes on. */
  readonly relayed: TunnelServer<Principal>;
  /** Answers calls over WebRTC. */
  readonly direct: ChannelServer<Principal>;
  readonly #operations: Operations;
  /** For ports that ask for no key. */
  readonly #pageRule: PageRule;
  /** Calls to resources. */
  readonly requests: RequestCounts = new RequestCounts();
  #port = 0;

  constructor(deps: ServingDeps) {
    this.#deps = deps;
    const { graph, types, facts, clock, log } = deps;
    this.#operations = createOperations(clock);
    this.#pageRule = createPageRule(deps.ownNames);
    this.#stopper = createStopper(graph, types);
    const windowMs = (): number => heartbeatWindowMs(facts().config);
    types.onChange(() => {
      for (const server of [...this.#servers, this.relayed, this.direct]) server.setAdded(this.#added());
    });
    this.#sessions = createSessions({ windowMs, stopper: this.#stopper, clock, log });
    const [stopper, sessions, operations] = [this.#stopper, this.#sessions, this.#operations];
    this.#services = this.#watched([
      this.#recorded(machineRpc({ ...deps, stopper, sessions, operations }), () => ''),
      ...types.known.map((type) => this.#binding(type)),
    ]);
    this.relayed = createTunnelServer<Principal>({
      ...{ services: this.#services, clock, log },
      authenticate: async (call) => relayedPrincipal(call, log),
    });
    this.direct = createChannelServer<Principal>({ services: this.#services, clock, log });
    for (const server of [this.relayed, this.direct]) server.setAdded(this.#added());
  }

  /** Available once the server has started. */
  get port(): number {
    return this.#port;
  }

  /** Whether a stop may arrive at any time: a client has a session, or a call that moves something is in progress. */
  get expectsStops(): boolean {
    return this.#sessions.all.length > 0 || this.#operations.all.some(({ moves }) => moves);
  }

  /** Starts to listen. @throws PlatformError if the address cannot be used, or is open to other computers without credentials */
  async start(): Promise<void> {
    const { auth, bindAddress, certificate, log } = this.#deps;
    const { host, port, isUsual } = bindAddress;
    if (auth.closed) {
      throw failedPrecondition(
        `bind address ${host}:${port} is open to other computers, and no credentials are configured: set auth.handlers`,
      );
    }
    for (let candidate = port; ; candidate++) {
      const server = this.#create((call) => auth.authenticate(call), {
        certificate,
        more: [this.#deps.signaling],
        pageRule: (headers) => (auth.open ? this.#pageRule(headers) : 'any'),
      });
      try {
        const address = await server.listen({ host, port: candidate });
        if (candidate !== port) log.info(`port ${port} is in use; serving on ${address.port}`);
        log.info('serving', { address: `${address.host}:${address.port}`, tls: certificate !== undefined });
        certificate?.watch((fresh) => server.setTls(fresh));
        this.#server = server;
        this.#port = address.port;
        return;
      } catch (caught) {
        await server.close().catch(() => {});
        if (!isUsual || candidate >= port + portsTried) throw caught;
      }
    }
  }

  /** Serves this machine to one of its modules. Any process that can open the socket counts as the module. */
  openParent(module: string, socketPath: string): Promise<ParentPort> {
    const { auth, tcpModeTrusted: isTrusted, clock, log } = this.#deps;
    return openParentPort({
      ...{ module, socketPath, isOpen: () => auth.open, isTrusted, owners: connectionOwners, clock, log },
      // Pages cannot open a Unix socket.
      create: (authenticate, port) =>
        this.#create(authenticate, { admit: port?.admit, pageRule: port && this.#pageRule }),
      close: async (server) => {
        this.#servers.delete(server);
        await server.close({ graceMs: 0 });
      },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#sessions[Symbol.dispose]();
    await Promise.all([this.relayed[Symbol.asyncDispose](), this.direct[Symbol.asyncDispose]()]);
    await this.#server?.close({ graceMs: 1_000 });
  }

  #create(
    authenticate: (call: Call) => Promise<Principal>,
    {
      certificate,
      more = [],
      admit,
      pageRule,
    }: {
      readonly certificate?: CertificateSource | undefined;
      readonly more?: readonly ServiceBinding<Principal>[];
      readonly admit?: AdmitConnection | undefined;
      readonly pageRule?: PageRule | undefined;
    },
  ): RpcServer<Principal> {
    const { auth, log } = this.#deps;
    const server = createRpcServer<Principal>({
      trustedProxies: this.#deps.trustedProxies,
      services: [auth.binding, ...more, ...this.#services],
      authenticate,
      open: ['/proto.rpc.v1.AuthService/Authenticate'],
      ...(admit && { admit }),
      ...(certificate && { tls: certificate.current ?? 'later', plaintextOnLoopback: true }),
      ...(pageRule && { pageRule }),
      fallback: httpPages({ ...this.#deps, operations: this.#operations }),
      log,
    });
    server.setAdded(this.#added());
    this.#servers.add(server);
    return server;
  }

  /** The services of types from modules. */
  #added(): readonly ServiceBinding<Principal>[] {
    return this.#watched(this.#deps.types.added.map((type) => this.#binding(type)));
  }

  #watched(services: readonly ServiceBinding<Principal>[]): readonly ServiceBinding<Principal>[] {
    const { watchCall } = this.#deps;
    return watchCall === undefined ? services : watchCalls(services, watchCall);
  }

  #binding(type: ResourceDescriptor): ServiceBinding<Principal> {
    const { graph, requestsLimit: limit } = this.#deps;
    const binding = resourceRpc({
      type,
      graph,
      limit,
      sessions: this.#sessions,
      operations: this.#operations,
      counts: this.requests,
    });
    const names = new Map(type.service.methods.map((method) => [method.name, nameFieldOf(type, method.input)]));
    return this.#recorded(binding, ({ name }, request) => names.get(name)?.read(request) ?? '');
  }

  #recorded(binding: ServiceBinding<Principal>, resourceOf: RecordCallsDeps['resourceOf']): ServiceBinding<Principal> {
    const { callRecord: record } = this.#deps;
    return record === undefined ? binding : recordCalls(binding, { record, resourceOf });
  }
}

const usualWindowMs = 2_000;
const [leastWindowMs, mostWindowMs] = [30, 60_000];

/** `network.sessions.heartbeat_window`, from 30 ms to 1 min; 2 s by default. */
function heartbeatWindowMs({ network }: RobotConfig): number {
  const window = network?.sessions?.heartbeatWindow;
  if (window === undefined) return usualWindowMs;
  return Math.max(leastWindowMs, Math.min(mostWindowMs, durationMs(window)));
}
