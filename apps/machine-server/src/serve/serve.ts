/** The machine's own port. */
import { durationMs } from '@bufbuild/protobuf/wkt';
import { type Clock, type Log, PlatformError } from '@platform/base';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import type { ResourceDescriptor } from '@platform/resources';
import {
  type Call,
  createRpcServer,
  createTunnelServer,
  type RpcServer,
  type ServiceBinding,
  type TunnelServer,
} from '@platform/rpc/server';
import type { Graph } from '../graph/graph.ts';
import type { Modules } from '../modules/feature.ts';
import type { ParentPort } from '../modules/modules-deps.ts';
import type { TypeTable } from '../modules/type-table.ts';
import type { Packages } from '../packages/feature.ts';
import type { MachineAuth, Principal } from './authenticate.ts';
import { type MachineFacts, machineRpc } from './machine-rpc.ts';
import { relayedPrincipal } from './relayed-principal.ts';
import { resourceRpc } from './resource-rpc.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createStopper, type Stopper } from './stop.ts';

export interface ServingDeps {
  readonly graph: Graph;
  readonly types: TypeTable;
  readonly modules: Modules;
  readonly packages: Pick<Packages, 'status'>;
  readonly auth: MachineAuth;
  readonly facts: () => MachineFacts;
  readonly requestsLimit: number;
  /**
   * `host:port` from `network.bind_address` or PLATFORM_BIND_ADDRESS; if undefined or empty: loopback, 8080 or the next free port (D16).
   */
  readonly bindAddress: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

const usualPort = 8080;
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
  readonly relayed: TunnelServer;
  #port = 0;

  constructor(deps: ServingDeps) {
    this.#deps = deps;
    const { graph, types, modules, packages, facts, clock, log } = deps;
    this.#stopper = createStopper(graph, types);
    const windowMs = (): number => heartbeatWindowMs(facts().config);
    types.onChange(() => {
      for (const server of this.#servers) server.setAdded(this.#added());
    });
    this.#sessions = createSessions({ windowMs, stopper: this.#stopper, clock, log });
    const [stopper, sessions] = [this.#stopper, this.#sessions];
    this.#services = [
      machineRpc({ graph, types, modules, packages, facts, stopper, sessions }),
      ...types.known.map((type) => this.#binding(type)),
    ];
    this.relayed = createTunnelServer<Principal>({
      ...{ services: this.#services, clock, log },
      authenticate: async (call) => relayedPrincipal(call, log),
    });
  }

  /** Known once the server has started. */
  get port(): number {
    return this.#port;
  }

  /** Starts to listen. @throws PlatformError if the address cannot be used, or is open to other computers without credentials */
  async start(): Promise<void> {
    const { auth, bindAddress, log } = this.#deps;
    const asked = parseAddress(bindAddress);
    if (asked !== undefined && auth.open && !/^(127\.|localhost$|\[?::1)/.test(asked.host)) {
      throw new PlatformError(
        'failed_precondition',
        `bind address ${bindAddress} is open to other computers, and no credentials are configured: set auth.handlers`,
      );
    }
    const { host, port } = asked ?? { host: '127.0.0.1', port: usualPort };
    for (let candidate = port; ; candidate++) {
      const server = this.#create((call) => auth.authenticate(call));
      try {
        const address = await server.listen({ host, port: candidate });
        if (candidate !== port) log.info(`port ${port} is in use; serving on ${address.port}`);
        log.info('serving', { address: `${address.host}:${address.port}` });
        this.#server = server;
        this.#port = address.port;
        return;
      } catch (caught) {
        await server.close().catch(() => {});
        if (asked !== undefined || candidate >= port + portsTried) throw caught;
      }
    }
  }

  /** Serves this machine to one of its modules, on a socket. Whoever can open the socket is the module. */
  async openParent(module: string, socketPath: string): Promise<ParentPort> {
    const create = (): RpcServer<Principal> => this.#create(async () => ({ entity: `module ${module}`, module }));
    const opened = [create()];
    await opened[0]?.listenOnSocket(socketPath);
    const openTcp = async (): Promise<string> => {
      const server = create();
      opened.push(server);
      const { host, port } = await server.listen({ host: '127.0.0.1', port: 0 });
      return `${host}:${port}`;
    };
    let tcp: Promise<string> | undefined;
    return {
      tcpAddress: () => (tcp ??= openTcp()),
      [Symbol.asyncDispose]: async () => {
        for (const each of opened) this.#servers.delete(each);
        await Promise.all(opened.map((each) => each.close({ graceMs: 0 })));
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#sessions[Symbol.dispose]();
    await this.relayed[Symbol.asyncDispose]();
    await this.#server?.close({ graceMs: 1_000 });
  }

  #create(authenticate: (call: Call) => Promise<Principal>): RpcServer<Principal> {
    const { auth, log } = this.#deps;
    const server = createRpcServer<Principal>({
      services: [auth.binding, ...this.#services],
      authenticate,
      open: ['/proto.rpc.v1.AuthService/Authenticate'],
      fallback: (_request, response) => {
        response.statusCode = 404;
        response.setHeader('content-type', 'text/plain');
        response.end('machine-server: this port speaks gRPC, gRPC-Web and Connect\n');
      },
      log,
    });
    server.setAdded(this.#added());
    this.#servers.add(server);
    return server;
  }

  /** The services of types that modules brought. */
  #added(): readonly ServiceBinding<Principal>[] {
    return this.#deps.types.added.map((type) => this.#binding(type));
  }

  #binding(type: ResourceDescriptor): ServiceBinding<Principal> {
    const { graph, requestsLimit } = this.#deps;
    return resourceRpc({ type, graph, limit: requestsLimit, sessions: this.#sessions });
  }
}

function parseAddress(text: string | undefined): { host: string; port: number } | undefined {
  if (text === undefined || text === '') return undefined;
  const colon = text.lastIndexOf(':');
  const port = Number(text.slice(colon + 1));
  if (colon < 0 || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new PlatformError(
      'invalid_argument',
      `network.bind_address or PLATFORM_BIND_ADDRESS: expected host:port, found "${text}"`,
    );
  }
  return { host: text.slice(0, colon) || '0.0.0.0', port };
}

const usualWindowMs = 2_000;
const [leastWindowMs, mostWindowMs] = [30, 60_000];

/** `network.sessions.heartbeat_window`, from 30 ms to 1 min; 2 s by default. */
function heartbeatWindowMs({ network }: RobotConfig): number {
  const window = network?.sessions?.heartbeatWindow;
  if (window === undefined) return usualWindowMs;
  return Math.max(leastWindowMs, Math.min(mostWindowMs, durationMs(window)));
}
