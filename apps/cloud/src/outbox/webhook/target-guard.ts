/**
 * Decides which addresses webhooks may reach (D23, D43). The URL is checked before anything is sent, each name when it is resolved for dialling,
 * and each socket again before it is used. So the checked address is the dialled one.
 */
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { invalidArgument, permissionDenied, unavailable } from '@platform/base';
import { addressKind } from './address-kind.ts';
import { isLoopbackAddress, type LoopbackRule, targetText } from './loopback-target.ts';

export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface TargetPolicy {
  /** Address of our own test inbox, exactly as written in its URLs. Only its paths are allowed. */
  readonly ownAddress: () => { readonly host: string; readonly port: number } | undefined;
  /** Whether webhooks may go to private ranges. */
  readonly privateTargetsAllowed: boolean;
  /** Name of the setting that allows them. */
  readonly privateTargetsSetting: string;
  /** How the host administrator starts the command line, see `Settings`. */
  readonly command: string;
  /** The other loopback targets, by organization. */
  readonly loopback: LoopbackRule;
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

/**
 * @param organizationId whose webhook it is
 * @throws invalid_argument for an invalid webhook URL, permission_denied for a forbidden target
 */
export function checkTarget(text: string, policy: TargetPolicy, organizationId: string): Target {
  const url = webhookUrl(text);
  const host = bareHost(url.hostname);
  if (isOwnTestInbox(url, host, policy.ownAddress())) {
    return { url, own: true, lookup: lookupWith(policy.resolve, () => {}), checkSocket: () => {} };
  }
  const place = { host, port: portOf(url), organizationId };
  const check = (address: string): void => refuse(place, address, policy);
  if (isIP(host) !== 0) check(host);
  return {
    url,
    own: false,
    lookup: lookupWith(policy.resolve, (addresses) => {
      refuseMixture(host, addresses);
      for (const address of addresses) check(address);
    }),
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

interface Place {
  readonly host: string;
  readonly port: number;
  readonly organizationId: string;
}

function refuse(place: Place, address: string, policy: TargetPolicy): void {
  const { host, port, organizationId } = place;
  const { kind, range } = addressKind(address);
  if (kind === 'public' || (kind === 'private' && policy.privateTargetsAllowed)) return;
  const { loopback } = policy;
  const isLoopback = isLoopbackAddress(address);
  if (isLoopback && !loopback.isOwnPort(port) && loopback.allows(organizationId, address, port)) return;
  const where = host === address ? address : `${host} is ${address}, which`;
  throw permissionDenied(`target refused: ${where} is ${range}; ${remedy(place, address, kind, policy)}`);
}

function remedy({ port, organizationId }: Place, address: string, kind: string, policy: TargetPolicy): string {
  if (kind === 'private')
    return `webhooks to private ranges are refused by this installation; set ${policy.privateTargetsSetting}=1 in the environment of the cloud to allow them (the default while it listens on loopback only)`;
  if (!isLoopbackAddress(address))
    return 'webhooks never go to link-local, metadata or reserved addresses, and no setting changes that';
  if (policy.loopback.isOwnPort(port))
    return `webhooks never go to port ${port}, on which the platform or its database listens, and no setting changes that`;
  const target = targetText({ address, port });
  return `the host administrator can allow this address and port for this organization: ${policy.command} admin webhooks allow ${organizationId} ${address.includes(':') ? `'${target}'` : target}`;
}

/** A name must not lead to an allowed loopback target now and elsewhere at the next attempt. */
function refuseMixture(host: string, addresses: readonly string[]): void {
  const here = addresses.find(isLoopbackAddress);
  const elsewhere = addresses.find((address) => !isLoopbackAddress(address));
  if (here === undefined || elsewhere === undefined) return;
  throw permissionDenied(
    `target refused: ${host} is ${here}, which is loopback, and also ${elsewhere}; use a name that is only one of them, or the address itself`,
  );
}

function lookupWith(resolve: Resolve, check: (addresses: readonly string[]) => void): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        try {
          const [first] = addresses;
          if (!first) throw unavailable(`${hostname} has no address`);
          check(addresses.map(({ address }) => address));
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
  return (
    host === bareHost(own.host.toLowerCase()) &&
    portOf(url) === own.port &&
    /^\/test-inbox\/[\w~/.-]*$/.test(url.pathname)
  );
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

function bareHost(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}
