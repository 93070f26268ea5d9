/** Opens a machine by its name or address, from a browser. */
import { systemClock } from '@platform/base/portable';
import { createEngine, reachMachine } from '@platform/webrtc/browser';
import { type Machine, type MachineOptions, openMachine } from './open-machine.ts';

export interface ConnectMachineOptions extends MachineOptions {
  /**
   * The full name of a part (**Address** in the web UI, `fqdn` in the API), or the address of a machine-server: `host:port`, or
   * `http(s)://host:port`.
   */
  readonly address: string;
  /** Where the cloud is reached, such as https://cloud.example. Default: at the name itself, with TLS. */
  readonly cloud?: string;
  /** An API key (its id and its secret); for an address, one of the machine's own. Absent: a machine that asks for none. */
  readonly keyId?: string;
  readonly key?: string;
  /** Used for all requests to the cloud; it may sign in. Default: that of the browser. */
  readonly fetch?: typeof globalThis.fetch;
  /** A call that sets no deadline fails after this many milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
  /** Ends all calls. */
  readonly signal?: AbortSignal;
}

/**
 * Connects at the first call. By default it goes through the cloud at once, and over WebRTC as soon as such a connection is open. Through the
 * cloud, browsers cannot send a stream of requests.
 *
 * @throws invalid_argument if the address cannot be read, or has no such path
 */
export function connectMachine(options: ConnectMachineOptions): Machine {
  const { address, cloud, keyId, key, path, fetch, timeoutMs, signal } = options;
  const credentials =
    keyId === undefined || key === undefined ? undefined : { entity: keyId, type: 'api-key', payload: key };
  const engine = createEngine({ clock: systemClock });
  const reached = reachMachine({
    ...{ address, cloudUrl: cloud, credentials, path, fetch, timeoutMs, signal },
    engine: async () => engine,
    onClose: () => engine[Symbol.asyncDispose](),
  });
  return openMachine(reached, options);
}
