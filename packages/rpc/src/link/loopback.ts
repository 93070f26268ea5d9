/** Addresses that mean this computer, to which secrets may go in plaintext (D16). */
import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Whether this host name should mean this computer. A name of `localhost` that a name server resolves does not: see `loopbackLookup`. */
export function isLoopback(hostname: string): boolean {
  return isLocalName(hostname) || hostname === '[::1]' || isLoopbackAddress(hostname);
}

function isLocalName(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost');
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127(\.\d+){3}$/i.test(address);
}

/** For connections in plaintext that carry secrets: fails if a name of `localhost` is another computer. */
export const loopbackLookup: LookupFunction = loopbackOnly((hostname, options, callback) =>
  lookup(hostname, options, callback),
);

/** @param resolve finds the addresses of names */
export function loopbackOnly(
  resolve: (
    hostname: string,
    options: LookupAllOptions,
    callback: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
  ) => void,
): LookupFunction {
  return (hostname, options, callback) =>
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const refusal = error ?? refusalOf(hostname, found);
      if (refusal !== undefined) callback(refusal, []);
      else if (options.all === true) callback(null, found);
      else callback(null, found[0]?.address ?? '', found[0]?.family);
    });
}

function refusalOf(hostname: string, found: readonly LookupAddress[]): Error | undefined {
  const other = found.find(({ address }) => !isLoopbackAddress(address));
  if (!isLocalName(hostname) || other === undefined) return undefined;
  return new Error(
    `${hostname} is ${other.address}, which is another computer, where others could read what is sent in plaintext: use https://, or allow insecure credentials explicitly`,
  );
}
