/** What the modules of a machine need of the rest of the machine-server. */
import type { Clock, Log } from '@platform/base';
import type { Provided } from '../graph/model-table.ts';
import type { TypeTable } from './type-table.ts';

/** What a module may know about its machine. Texts that are not known are empty. */
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

/** What modules call: RobotService and the resources of this machine. */
export interface ParentPort extends AsyncDisposable {
  /** `host:port` on this computer, for a module that does not use sockets. */
  tcpAddress(): Promise<string>;
}

export interface ModulesDeps {
  readonly home: string;
  /** Tells the graph which models a module provides; undefined: none, for good. */
  readonly provide: (provider: string, provided: Provided | undefined) => void;
  readonly types: TypeTable;
  /** Serves this machine on a socket, to one module. */
  readonly openParent: (module: string, socketPath: string) => Promise<ParentPort>;
  readonly identity: () => MachineIdentity;
  /** Why this file cannot be used yet, such as a package that is being downloaded; undefined if it can. */
  readonly missing: (path: string) => string | undefined;
  /** The folder of the package that holds this file; undefined: it is in none. */
  readonly packageWith: (path: string) => string | undefined;
  /** `-untrusted-env`. */
  readonly untrusted: boolean;
  /** `-debug`, or `debug` in the configuration. */
  readonly debug: () => boolean;
  /** The environment that processes inherit. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly startupTimeoutMs: number;
  readonly configureTimeoutMs: number;
  /** Called after the state of a module has changed. */
  readonly onChange: () => void;
  readonly clock: Clock;
  readonly log: Log;
}
