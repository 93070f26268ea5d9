/** How a remote is reached: through its cloud by its name, or at its own address. */
import type { Clock } from '@platform/base';
import type { CloudConfig } from '@platform/proto/platform/app/v1/robot';
import { type Engine, type Reached, type ReachMachineOptions, reachMachine } from '@platform/webrtc';
import type { CloudCredentials } from '../config/credentials.ts';
import type { RemoteConfig } from './remote-config.ts';

/** The cloud of this machine. */
export interface OwnCloud {
  readonly url: string;
  /** PEM; undefined: the system's. */
  readonly ca: string | undefined;
  /** The full name of this machine there; empty before its first configuration. */
  readonly fqdn: string;
}

/** @param cloud of the newest configuration */
export function ownCloudOf(
  credentials: Pick<CloudCredentials, 'appAddress' | 'ca'> | undefined,
  cloud: Pick<CloudConfig, 'fqdn'> | undefined,
): OwnCloud | undefined {
  return credentials && { url: credentials.appAddress, ca: credentials.ca, fqdn: cloud?.fqdn ?? '' };
}

type Way = Pick<ReachMachineOptions, 'address' | 'cloudUrl' | 'credentials' | 'ca' | 'allowInsecureCredentials'>;

/**
 * A machine of the same cloud is called through the cloud's address that this machine itself uses, so that names need no DNS.
 *
 * @param allowInsecure `-allow-insecure-creds`: credentials may go to another computer in plaintext
 */
export function wayToRemote(
  { address, insecure, credentials }: RemoteConfig,
  own: OwnCloud | undefined,
  allowInsecure: boolean,
): Way {
  const host = URL.parse(/^https?:\/\//i.test(address) ? address : `https://${address}`)?.hostname ?? '';
  const domain = own?.fqdn.replace(/^[^.]*/, '') ?? '';
  const common = { credentials, ca: own?.ca };
  if (own !== undefined && domain !== '' && host.endsWith(domain))
    return { ...common, address: host, cloudUrl: own.url, allowInsecureCredentials: allowInsecure };
  const hasScheme = /^https?:\/\//i.test(address);
  return {
    ...common,
    address: insecure && !hasScheme ? `http://${address}` : address,
    allowInsecureCredentials: allowInsecure && insecure,
  };
}

export interface ReachRemoteDeps {
  /** The cloud of this machine; undefined if there is none. */
  readonly ownCloud: () => OwnCloud | undefined;
  /** For WebRTC; undefined: there is none here. It belongs to the caller. */
  readonly engine: Engine | undefined;
  /** `-allow-insecure-creds`. */
  readonly allowInsecureCredentials: boolean;
  readonly userAgent: string;
  readonly clock: Clock;
}

/** Connects at the first call. @throws invalid_argument for an address that cannot be read */
export function reachRemote({ ownCloud, engine, allowInsecureCredentials, userAgent, clock }: ReachRemoteDeps) {
  return (config: RemoteConfig): Reached =>
    reachMachine({
      ...wayToRemote(config, ownCloud(), allowInsecureCredentials),
      engine: engine && (async () => engine),
      ...{ userAgent, clock },
    });
}
