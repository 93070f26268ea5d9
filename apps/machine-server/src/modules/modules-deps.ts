/** The parts of the machine-server that modules need. */
import type { Clock, Log, LogLevel } from '@platform/base';
import type { Provided } from '../graph/model-table.ts';
import type { PackageWith } from '../packages/feature.ts';
import type { ProcessStart } from './process/read-process.ts';
import type { TypeTable } from './type-table.ts';

/** Information about its machine for a module. Unknown texts are empty. */
export interface MachineIdentity {
  readonly machineId: string;
  readonly partId: string;
  readonly fqdn: string;
  readonly locationId: string;
  readonly primaryOrgId: string;
  /** The first API key of the configuration, with which the module may call the machine's own port. */
  readonly apiKeyId: string;
  readonly apiKey: string;
}

/** The server for modules: RobotService and the resources of this machine. */
export interface ParentPort extends AsyncDisposable {
  /**
   * `host:port` on this computer, for a module that does not use sockets. The port of its previous process is closed.
   *
   * @param leader the process of the module that was started: only its family is served. @throws failed_precondition if that is impossible
   */
  tcpAddress(leader: ProcessStart): Promise<string>;
}

export interface ModulesDeps {
  readonly home: string;
  /** Sets in the graph which models a module provides; undefined: permanently none. */
  readonly provide: (provider: string, provided: Provided | undefined) => void;
  /** Builds a resource of the graph again, by its full name. */
  readonly rebuild: (full: string) => void;
  readonly types: TypeTable;
  /** Serves this machine on a socket, to one module. */
  readonly openParent: (module: string, socketPath: string) => Promise<ParentPort>;
  readonly identity: () => MachineIdentity;
  /** Why this file cannot be used yet, such as a package that is being downloaded; undefined if it can. */
  readonly missing: (path: string) => string | undefined;
  /** The package that contains this file; undefined if none does. */
  readonly packageWith: (path: string) => PackageWith | undefined;
  /** `-untrusted-env`. */
  readonly untrusted: boolean;
  /** The least severe level that is logged of a logger. */
  readonly levelOf: (logger: string) => LogLevel;
  /** The environment that processes inherit. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly startupTimeoutMs: number;
  readonly configureTimeoutMs: number;
  /** Called after the state of a module has changed. */
  readonly onChange: () => void;
  readonly clock: Clock;
  readonly log: Log;
}
