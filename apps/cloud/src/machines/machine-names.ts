/**
 * The full names of parts (D39): one label, the id, below the machine domain. A move keeps the name, and a new machine with an old name
 * never gets calls for the old one.
 */
import { isIP } from 'node:net';

/** Where a host name leads. */
export type Led =
  /** Maybe an id of no part: who may not see a part must not learn whether it exists (R2). */
  | { readonly to: 'part'; readonly partId: string }
  /** The cloud itself. */
  | { readonly to: 'cloud' }
  /** A name that is unknown here. */
  | { readonly to: 'elsewhere'; readonly host: string };

export interface MachineNames {
  readonly domain: string;
  /** The full name, by which others call the part. */
  fqdn(partId: string): string;
  /** The name in the part's own network, by multicast DNS. */
  localFqdn(partId: string): string;
  /** Every name of the part, for its certificate. */
  all(partId: string): string[];
  /** @param host may have a port */
  lead(host: string): Led;
  /** Whether the cloud itself is reached by this name. @param host without a port */
  isOwn(host: string): boolean;
}

/** @param ownHosts names by which the cloud is reached; addresses and `localhost` always are */
export function createMachineNames(domain: string, ownHosts: readonly string[]): MachineNames {
  const own = new Set(['localhost', ...ownHosts.map((host) => host.toLowerCase())]);
  const isOwn = (host: string): boolean => own.has(host) || isIP(host) !== 0;
  const fqdn = (partId: string): string => `${partId}.${domain}`;
  const localFqdn = (partId: string): string => `${partId}.local`;
  return {
    ...{ domain, fqdn, localFqdn, isOwn },
    all: (partId) => [fqdn(partId), localFqdn(partId)],
    lead(given) {
      const host = withoutPort(given);
      if (host === '' || isOwn(host)) return { to: 'cloud' };
      if (!host.endsWith(`.${domain}`)) return { to: 'elsewhere', host };
      const partId = host.slice(0, -domain.length - 1);
      return partId === '' ? { to: 'elsewhere', host } : { to: 'part', partId };
    },
  };
}

/** In lower case, without a port, brackets and a final dot. */
function withoutPort(given: string): string {
  const [, address, name = given] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(given.trim()) ?? [];
  return (address ?? name).toLowerCase().replace(/\.$/, '');
}
