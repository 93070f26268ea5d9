import { isIP } from 'node:net';
import { peerAddressOf, plainAddress, type TrustedProxies } from '@platform/base';

/** A proxy appends the address of its peer, so more than a few are made up. */
const maxEntries = 16;

/**
 * Who sent a request that a trusted proxy passed on: the last address in `x-forwarded-for` that is not a trusted proxy. What stands before
 * it may be made up by the client.
 *
 * @param header `x-forwarded-for`, all of them joined by commas
 * @returns an address, with the port if the proxy told it, IPv6 in brackets; undefined if the header names none
 */
export function forwardedAddress(header: string, proxies: TrustedProxies): string | undefined {
  let known: string | undefined;
  for (const entry of header.split(',').slice(-maxEntries).toReversed()) {
    const found = /^\[([^\]]+)\](:\d{1,5})?$|^([\d.]+)(:\d{1,5})?$|^([\da-f:.]+)$/i.exec(entry.trim());
    const address = plainAddress(found?.[1] ?? found?.[3] ?? found?.[5] ?? '');
    // What a proxy could not tell, nobody before it can.
    if (isIP(address) === 0) return known;
    const port = found?.[2] ?? found?.[4];
    known = peerAddressOf(address, port === undefined ? undefined : Number(port.slice(1)));
    if (!proxies.has(address)) return known;
  }
  return known;
}
