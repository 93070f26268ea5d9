/** The remotes of a configuration. Pure. */
import type { Problem } from '@platform/base';
import type { JsonObject, ServiceConfig } from '@platform/machine-config/schema';
import type { Credentials } from '@platform/rpc/client';
import { durationMs } from '../config/duration.ts';

export interface RemoteConfig {
  readonly name: string;
  /** The full name of a part, or the address of a machine-server. */
  readonly address: string;
  /** In front of the names of its resources. */
  readonly prefix: string;
  /** Undefined: it asks for none. */
  readonly credentials: Credentials | undefined;
  /** Whether its address is called in plaintext. */
  readonly insecure: boolean;
  /** Between two looks at it while it is reached. */
  readonly checkMs: number;
  /** Between the first attempts to reach it. */
  readonly reconnectMs: number;
  /** What of its resources is captured. */
  readonly serviceConfigs: readonly ServiceConfig[];
  /** Why it cannot be used; empty if it can. */
  readonly error: string;
}

const checkMs = 10_000;
const reconnectMs = 1_000;
/** More often would only load the network. */
const leastMs = 100;
/** `:` and `/` divide names of resources. */
const validName = /^[^:/\p{Cc}]{1,200}$/u;

/** Remotes with an invalid name, or the name of an earlier one, are reported and omitted. */
export function readRemotes(entries: readonly JsonObject[]): {
  readonly remotes: readonly RemoteConfig[];
  readonly problems: readonly Problem[];
} {
  const byName = new Map<string, RemoteConfig>();
  const problems: Problem[] = [];
  for (const [index, entry] of entries.entries()) {
    const remote = read(entry);
    const { name } = remote;
    const complain = (message: string): void =>
      void problems.push({ path: `remotes[${index}].name`, level: 'error', message: `${message}: it is not used` });
    if (!validName.test(name))
      complain(`expected a name of 1 to 200 characters without ":" and "/", found ${JSON.stringify(name)}`);
    else if (byName.has(name)) complain(`expected one remote named "${name}", found another one`);
    else byName.set(name, remote);
  }
  return { remotes: [...byName.values()], problems };
}

function read(entry: JsonObject): RemoteConfig {
  const text = (key: string): string => (typeof entry[key] === 'string' ? entry[key] : '');
  const address = text('address');
  const fault = String((entry['status'] as JsonObject | undefined)?.['error'] ?? '');
  return {
    name: text('name'),
    address,
    prefix: text('prefix'),
    credentials: credentialsOf(entry, address),
    insecure: entry['insecure'] === true,
    checkMs: Math.max(leastMs, durationMs(text('connection_check_interval')) || checkMs),
    reconnectMs: Math.max(leastMs, durationMs(text('reconnect_interval')) || reconnectMs),
    serviceConfigs: ((entry['service_configs'] ?? []) as readonly JsonObject[]).map(({ type, attributes }) => ({
      type: String(type ?? ''),
      attributes: (attributes ?? {}) as JsonObject,
    })),
    error: fault === '' && address === '' ? 'expected an address, found none' : fault,
  };
}

function credentialsOf(entry: JsonObject, address: string): Credentials | undefined {
  const { entity, credentials } = (entry['auth'] ?? {}) as JsonObject;
  const { type, payload } = (credentials ?? {}) as JsonObject;
  if (typeof payload === 'string' && payload !== '')
    return { entity: String(entity ?? '') || address, type: String(type ?? '') || 'api-key', payload };
  const { secret } = entry;
  if (typeof secret !== 'string' || secret === '') return undefined;
  return { entity: String(entity ?? '') || address, type: 'robot-location-secret', payload: secret };
}
