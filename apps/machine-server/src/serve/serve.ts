/** The machine's own port. */
import { durationMs } from '@bufbuild/protobuf/wkt';
import { type Clock, type Log, PlatformError } from '@platform/base';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import type { ResourceDescriptor } from '@platform/resources';
import { createRpcServer, type RpcServer } from '@platform/rpc/server';
import type { CertificateSource } from '../certificate/certificate-pair.ts';
import type { Frames } from '../frames/frames.ts';
import type { Graph } from '../graph/graph.ts';
import type { MachineAuth, Principal } from './authenticate.ts';
import type { BindAddress } from './bind-address.ts';
import { httpPages } from './http-pages.ts';
import { type MachineFacts, type MachineRpcDeps, machineRpc } from './machine-rpc.ts';
import { createOperations, type Operations } from './operations.ts';
import { resourceRpc } from './resource-rpc.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createStopper, type Stopper } from './stop.ts';

export interface ServingDeps {
  readonly graph: Graph;
  readonly types: readonly ResourceDescriptor[];
  readonly auth: MachineAuth;
  readonly facts: () => MachineFacts;
  readonly frames: Frames;
  /** See MachineRpcDeps. */
  readonly moduleModels: MachineRpcDeps['moduleModels'];
  readonly shutdown: MachineRpcDeps['shutdown'];
  readonly requestsLimit: number;
  readonly bindAddress: BindAddress;
  /** Undefined: the port is in plaintext. */
  readonly certificate: CertificateSource | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

const portsTried = 100;

export class Serving implements AsyncDisposable {
  readonly #deps: ServingDeps;
  #server: RpcServer | undefined;
  readonly #stopper: Stopper;
  readonly #sessions: Sessions;
  readonly #operations: Operations;
  #port = 0;

  constructor(deps: ServingDeps) {
    this.#deps = deps;
    const { graph, types, facts, clock, log } = deps;
    this.#operations = createOperations(clock);
    this.#stopper = createStopper(graph, types);
    const windowMs = (): number => heartbeatWindowMs(facts().config);
    this.#sessions = createSessions({ windowMs, stopper: this.#stopper, clock, log });
  }

  /** Known once the server has started. */
  get port(): number {
    return this.#port;
  }

  /** Starts to listen. @throws PlatformError if the address cannot be used, or is open to other computers without credentials */
  async start(): Promise<void> {
    const { auth, bindAddress, certificate, log } = this.#deps;
    const { host, port, isUsual, isPublic } = bindAddress;
    if (auth.open && isPublic) {
      throw new PlatformError(
        'failed_precondition',
        `bind address ${host}:${port} is open to other computers, and no credentials are configured: set auth.handlers`,
      );
    }
    for (let candidate = port; ; candidate++) {
      const server = this.#create();
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

  async [Symbol.asyncDispose](): Promise<void> {
    this.#sessions[Symbol.dispose]();
    await this.#server?.close({ graceMs: 1_000 });
  }

  #create(): RpcServer {
    const { graph, types, auth, requestsLimit, certificate, log } = this.#deps;
    const [stopper, sessions, operations] = [this.#stopper, this.#sessions, this.#operations];
    return createRpcServer<Principal>({
      services: [
        auth.binding,
        machineRpc({ ...this.#deps, stopper, sessions, operations }),
        ...types.map((type) => resourceRpc({ type, graph, limit: requestsLimit, sessions, operations })),
      ],
      authenticate: (call) => auth.authenticate(call),
      open: ['/proto.rpc.v1.AuthService/Authenticate'],
      ...(certificate && { tls: certificate.current ?? 'later', plaintextOnLoopback: true }),
      fallback: httpPages({ ...this.#deps, operations }),
      log,
    });
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
