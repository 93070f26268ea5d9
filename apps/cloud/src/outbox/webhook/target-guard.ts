/**
 * Decides which addresses webhooks may reach (D23). The URL is checked before anything is sent, each name when it is resolved for dialling,
 * and each socket again before it is used. So the checked address is the dialled one.
 */
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { invalidArgument, permissionDenied, unavailable } from '@platform/base';
import { addressKind } from './address-kind.ts';

export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface TargetPolicy {
  /** Address of our own test inbox, exactly as written in its URLs. It is the only allowed loopback target, and only its paths are. */
  readonly ownAddress: () => { readonly host: string; readonly port: number } | undefined;
  /** Whether webhooks may go to private ranges. */
  readonly privateTargetsAllowed: boolean;
  /** Name of the setting that allows them. */
  readonly privateTargetsSetting: string;
  readonly resolve: Resolve;
}

export interface Target {
  readonly url: URL;
  /** Whether it is our own test inbox. */
  readonly own: boolean;
  /** For the socket: resolves the name and fails unless all its addresses are allowed. */
  readonly lookup: LookupFunction;
  /** Throws permission_denied if a socket connected to `remoteAddress` must not be used for this URL. */
  readonly checkSocket: (remoteAddress: string | undefined) => void;
}

/** Throws invalid_argument for an invalid webhook URL, permission_denied for a forbidden target. */
export function checkTarget(text: string, policy: TargetPolicy): Target {
  const url = webhookUrl(text);
  const host = bareHost(url.hostname);
  if (isOwnTestInbox(url, host, policy.ownAddress())) {
    return { url, own: true, lookup: lookupWith(policy.resolve, () => {}), checkSocket: () => {} };
  }
  const check = (address: string): void => refuse(host, address, policy);
  if (isIP(host) !== 0) check(host);
  return {
    url,
    own: false,
    lookup: lookupWith(policy.resolve, check),
    checkSocket: (remoteAddress) => check(remoteAddress ?? 'an unknown address'),
  };
}

/** Parses a webhook's URL. Throws invalid_argument with the reason. */
export function webhookUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw invalidArgument('expected an absolute URL such as https://example.com/hook');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw invalidArgument(`expected an http or https URL, found ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw invalidArgument(
      'expected a URL without user name and password, found one with them; put them into auth.basic of the notification',
    );
  }
  return url;
}

function refuse(host: string, address: string, policy: TargetPolicy): void {
  const { kind, range } = addressKind(address);
  if (kind === 'public' || (kind === 'private' && policy.privateTargetsAllowed)) return;
  const where = host === address ? address : `${host} is ${address}, which`;
  const what =
    kind === 'private'
      ? `webhooks to private ranges are refused by this installation; set ${policy.privateTargetsSetting}=1 in the environment of the cloud to allow them (the default while it listens on loopback only)`
      : 'webhooks never go to loopback, link-local, metadata or reserved addresses, and no setting changes that; a program on the computer of the cloud is reached by an address of that computer in the network, if webhooks to private ranges are allowed';
  throw permissionDenied(`target refused: ${where} is ${range}; ${what}`);
}

function lookupWith(resolve: Resolve, check: (address: string) => void): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        try {
          const [first] = addresses;
          if (!first) throw unavailable(`${hostname} has no address`);
          for (const { address } of addresses) check(address);
          if (options.all) callback(null, [...addresses]);
          else callback(null, first.address, first.family);
        } catch (caught) {
          callback(caught instanceof Error ? caught : new Error(String(caught)), []);
        }
      },
      (caught: Error) => callback(caught, []),
    );
  };
}

/** Only this exact host and port, and only plain paths of it, so that no other route of this server is reachable. */
function isOwnTestInbox(
  url: URL,
  host: string,
  own: { readonly host: string; readonly port: number } | undefined,
): boolean {
  if (own === undefined) return false;
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return (
    host === bareHost(own.host.toLowerCase()) && port === own.port && /^\/test-inbox\/[\w~/.-]*$/.test(url.pathname)
  );
}

function bareHost(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}
