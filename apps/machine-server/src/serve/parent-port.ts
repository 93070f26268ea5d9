/**
 * The servers through which one module reaches this machine without credentials: a socket in a folder that only this account may enter, and
 * with `tcp_mode` a port of this computer, which every account can reach. So a connection to the port is served only if it comes from a
 * process of the module (D52).
 */
import type { Socket } from 'node:net';
import { type Clock, createLimiter, errorText, failedPrecondition, type Log, permissionDenied } from '@platform/base';
import type { AdmitConnection, Call, RpcServer } from '@platform/rpc/server';
import { LimitedLog } from '../logging/limited-log.ts';
import type { ParentPort } from '../modules/modules-deps.ts';
import type { ConnectionOwners } from '../modules/process/connection-owner.ts';
import type { ProcessStart } from '../modules/process/read-process.ts';
import type { Principal } from './authenticate.ts';
import { requireAllowedToModules } from './module-channel.ts';

export interface ParentPortDeps {
  readonly module: string;
  readonly socketPath: string;
  /** @param port absent: it will listen on a socket */
  readonly create: (
    authenticate: (call: Call) => Promise<Principal>,
    port?: { readonly admit: AdmitConnection | undefined },
  ) => RpcServer<Principal>;
  readonly close: (server: RpcServer<Principal>) => Promise<void>;
  /** Whether the machine has no keys. */
  readonly isOpen: () => boolean;
  /** `tcp_mode_trusted`: any program of this computer may act as the module. */
  readonly isTrusted: boolean;
  readonly owners: ConnectionOwners;
  readonly clock: Clock;
  readonly log: Log;
}

/** Connections whose owner is not known yet. Further ones are cut: each costs some milliseconds, and anyone can make them. */
const maxWaiting = 32;

export async function openParentPort(deps: ParentPortDeps): Promise<ParentPort> {
  const { module, socketPath, create, close } = deps;
  const principal: Principal = { entity: `module ${module}`, module };
  const authenticate = async (call: Call): Promise<Principal> => {
    requireAllowedToModules(call);
    return principal;
  };
  const onSocket = create(authenticate);
  await onSocket.listenOnSocket(socketPath);
  let onPort: RpcServer<Principal> | undefined;
  return {
    async tcpAddress(leader) {
      if (onPort !== undefined) await close(onPort);
      const { admit, mayCall } = await ruleOf(deps, leader);
      const admitted = async (call: Call): Promise<Principal> => {
        mayCall();
        return authenticate(call);
      };
      onPort = create(admitted, { admit });
      const { host, port } = await onPort.listen({ host: '127.0.0.1', port: 0 });
      return `${host}:${port}`;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([onSocket, ...(onPort === undefined ? [] : [onPort])].map(close));
    },
  };
}

interface Rule {
  /** Undefined: all connections are served. */
  readonly admit: AdmitConnection | undefined;
  /** @throws permission_denied: the machine has got keys since, and it cannot be told who calls */
  readonly mayCall: () => void;
}

/** @throws failed_precondition if nothing protects the port, and the machine has keys */
async function ruleOf(deps: ParentPortDeps, leader: ProcessStart): Promise<Rule> {
  if (deps.isTrusted) return { admit: undefined, mayCall: () => {} };
  const reason = await deps.owners.whyUntold(leader);
  if (reason === undefined) return { admit: admitOnly(leader, deps), mayCall: () => {} };
  const text = `tcp_mode: expected a system that tells whose connection it is, because this machine has keys and every account of this computer can reach the port; found that ${reason}: remove tcp_mode, or set "tcp_mode_trusted": true in the file of -config if you trust every program of this computer`;
  if (!deps.isOpen()) throw failedPrecondition(text);
  return {
    admit: async () => deps.isOpen(),
    mayCall() {
      if (!deps.isOpen()) throw permissionDenied(text);
    },
  };
}

/** Serves the connections that come from the module. */
function admitOnly(leader: ProcessStart, { module, owners, clock, log }: ParentPortDeps): AdmitConnection {
  const oneByOne = createLimiter(1);
  const limited = new LimitedLog(log, () => clock.monotonic());
  const refused = (why: string): false => {
    limited.write(
      'warn',
      `module "${module}": a connection to its tcp_mode port was cut: ${why}, not to a process that the module has started; if it is the module's, set "tcp_mode_trusted": true in the file of -config`,
    );
    return false;
  };
  let waiting = 0;
  return async (socket: Socket) => {
    if (waiting >= maxWaiting) return refused('it could not be checked, because too many arrive at once');
    waiting++;
    try {
      const stranger = await oneByOne(() => owners.strangerOf(socket, leader));
      return stranger === undefined || refused(stranger);
    } catch (caught) {
      return refused(`it cannot be told whose it is (${errorText(caught)})`);
    } finally {
      waiting--;
    }
  };
}
