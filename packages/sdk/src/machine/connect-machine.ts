/** Opens a machine by its name or address, from Node. */
import { reachMachine } from '@platform/webrtc';
import { lazyEngine } from './lazy-engine.ts';
import { type Machine, type MachineOptions, openMachine } from './open-machine.ts';

export interface ConnectMachineOptions extends MachineOptions {
  /**
   * The full name of a part (**Address** in the web UI, `fqdn` in the API), or the address of a machine-server: `host:port`, or
   * `http(s)://host:port`.
   */
  readonly address: string;
  /** Where the cloud is reached, such as http://127.0.0.1:8080. Default: at the name itself, with TLS. */
  readonly cloud?: string;
  /** An API key (its id and its secret); for an address, one of the machine's own. Absent: a machine that asks for none. */
  readonly keyId?: string;
  readonly key?: string;
  /** PEM certificates to trust instead of the system's. */
  readonly ca?: string;
  /** Allows credentials over plaintext to another computer. Default false. */
  readonly allowInsecureCredentials?: boolean;
  /** A call that sets no deadline fails after this many milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
  /** Ends all calls. */
  readonly signal?: AbortSignal;
}

/**
 * Connects at the first call. By default it goes through the cloud at once, and over WebRTC as soon as such a connection is open.
 *
 * @throws invalid_argument if the address cannot be read, or has no such path
 */
export function connectMachine(options: ConnectMachineOptions): Machine {
  const { address, cloud, keyId, key, path, ca, allowInsecureCredentials, timeoutMs, signal } = options;
  const credentials =
    keyId === undefined || key === undefined ? undefined : { entity: keyId, type: 'api-key', payload: key };
  const engine = lazyEngine();
  const reached = reachMachine({
    ...{ address, cloudUrl: cloud, credentials, path, ca, allowInsecureCredentials, timeoutMs, signal },
    engine: engine.get,
    onClose: () => engine[Symbol.asyncDispose](),
    userAgent: 'platform-sdk',
  });
  return openMachine(reached, options);
}
