/** The `-config` file: credentials for a cloud (D32), or a complete configuration that needs no cloud. */
import { invalidArgument, isRecord } from '@platform/base';
import type { JsonText } from '@platform/machine-config/read-json';
import { durationMs } from './duration.ts';
import { type LocalSettings, readLocalSettings } from './local-settings.ts';
import { readDocumentFile } from './read-document.ts';

export interface CloudCredentials {
  readonly partId: string;
  readonly appAddress: string;
  readonly entity: string;
  readonly type: 'robot-secret' | 'api-key';
  readonly payload: string;
  readonly refreshMs: number;
  /** For how many days a cached configuration may start the server without its cloud (D8). 0: no limit. */
  readonly offlineLimitDays: number;
  /** `network.allowed_hosts` of this file; those of the configuration are added (D50). */
  readonly allowedHosts: readonly string[];
  /** `network.allowed_origins` of this file. */
  readonly allowedOrigins: readonly string[];
  /** PEM certificates to trust instead of the system's, for a cloud with its own authority (D31). */
  readonly ca?: string;
}

export type ConfigFile = { readonly local: LocalSettings } & (
  | { readonly kind: 'cloud'; readonly credentials: CloudCredentials }
  | { readonly kind: 'local'; readonly text: JsonText }
);

const leastRefreshMs = 100;

/**
 * With a `cloud` block, the configuration comes from that cloud, and the rest of the file is ignored, except for local settings.
 *
 * @param isKnownAsLocal whether the configuration of this file was used before: an unreadable file is then a configuration with errors.
 * @throws PlatformError with the file, what was expected and what was found.
 */
export async function readConfigFile(path: string, isKnownAsLocal: boolean): Promise<ConfigFile> {
  const fail = (message: string, cause?: unknown): never => {
    throw invalidArgument(`configuration file ${path}: ${message}`, cause);
  };
  const text = await readDocumentFile(path);
  const file = text.kind === 'read' ? text.document : undefined;
  const local = readLocalSettings(file, fail);
  if (isKnownAsLocal && !(isRecord(file) && 'cloud' in file)) return { kind: 'local', text, local };
  if (text.kind === 'invalid') return fail(text.message);
  if (!isRecord(file)) return fail(`expected a JSON object, found ${JSON.stringify(file).slice(0, 80)}`);
  const { cloud } = file;
  if (cloud === undefined) return { kind: 'local', text, local };
  if (!isRecord(cloud)) return fail(`expected an object at "cloud", found ${JSON.stringify(cloud).slice(0, 80)}`);
  const word = (key: string): string => {
    const value = cloud[key];
    return typeof value === 'string' && value !== ''
      ? value
      : fail(`expected text at "cloud.${key}", found ${JSON.stringify(value)}`);
  };
  const partId = word('id');
  const appAddress = word('app_address');
  if (!/^https?:$/.test(URL.parse(appAddress)?.protocol ?? ''))
    return fail(
      `expected an address such as https://cloud.example:8080 at "cloud.app_address", found ${JSON.stringify(appAddress)}`,
    );
  const key = cloud['api_key'];
  const hasKey = isRecord(key) && typeof key['id'] === 'string' && typeof key['key'] === 'string';
  if (!hasKey && typeof cloud['secret'] !== 'string')
    return fail('expected "cloud.secret", or "cloud.api_key" with "id" and "key"');
  const refresh = cloud['refresh_interval'] ?? '15s';
  const refreshMs = durationMs(String(refresh)) ?? 0;
  if (refreshMs < leastRefreshMs)
    return fail(
      `expected a duration such as 15s, at least ${leastRefreshMs}ms, at "cloud.refresh_interval", found ${JSON.stringify(refresh)}`,
    );
  const days = file['offline_limit_days'] ?? cloud['offline_limit_days'] ?? 60;
  if (typeof days !== 'number' || !(days >= 0))
    return fail(`expected a number of days at "offline_limit_days", found ${JSON.stringify(days)}`);
  const { network = {} } = file;
  const texts = (key: string): readonly string[] => {
    const value = isRecord(network) ? (network[key] ?? []) : network;
    return Array.isArray(value) && value.every((each) => typeof each === 'string')
      ? value
      : fail(`expected a list of texts at "network.${key}", found ${JSON.stringify(value).slice(0, 80)}`);
  };
  const [allowedHosts, allowedOrigins] = [texts('allowed_hosts'), texts('allowed_origins')];
  const { ca } = cloud;
  if (ca !== undefined && !(typeof ca === 'string' && ca.includes('-----BEGIN CERTIFICATE-----')))
    return fail(`expected a PEM certificate at "cloud.ca", found ${JSON.stringify(ca).slice(0, 80)}`);
  return {
    kind: 'cloud',
    local,
    credentials: {
      ...(ca !== undefined && { ca }),
      partId,
      appAddress,
      entity: hasKey ? String(key['id']) : partId,
      type: hasKey ? 'api-key' : 'robot-secret',
      payload: hasKey ? String(key['key']) : String(cloud['secret']),
      refreshMs,
      offlineLimitDays: days,
      allowedHosts,
      allowedOrigins,
    },
  };
}
