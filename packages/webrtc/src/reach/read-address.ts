/** What an address of a machine means. No Node: browsers load this file. */
import { invalidArgument } from '@platform/base/portable';

export type Address =
  /** Its full name (D39), which its cloud knows. */
  | { readonly kind: 'name'; readonly name: string; readonly cloudUrl: string }
  | { readonly kind: 'direct'; readonly url: string };

/** A part's id is the first label of its full name; names below `.local` are of the local network. */
const fullName = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\.(?!local$)/i;

/**
 * @param address the full name of a part, or `host:port` or `http(s)://host:port` of a machine. Without a scheme, a loopback address is
 * called in plaintext, and others over TLS
 * @param cloudUrl makes any address a name. Default for names: the name itself, over https
 * @throws invalid_argument
 */
export function readAddress(address: string, cloudUrl: string | undefined): Address {
  const withScheme = /^https?:\/\//i.test(address) ? address : `${isLoopback(address) ? 'http' : 'https'}://${address}`;
  const url = URL.parse(withScheme);
  if (url === null || url.hostname === '' || (url.pathname !== '/' && url.pathname !== ''))
    throw invalidArgument(
      `expected the full name of a machine, or its address such as https://pi.local:8080, found "${address}"`,
    );
  if (cloudUrl !== undefined) return { kind: 'name', name: url.hostname, cloudUrl };
  if (partIdOf(url.hostname) !== undefined) return { kind: 'name', name: url.hostname, cloudUrl: url.origin };
  return { kind: 'direct', url: url.origin };
}

/** The part with this full name; undefined if it is another name. */
export function partIdOf(name: string): string | undefined {
  return fullName.exec(name)?.[1];
}

function isLoopback(address: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/i.test(address);
}
