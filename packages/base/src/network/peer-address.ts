import { isIP } from 'node:net';
import { plainAddress } from './trusted-proxies.ts';

/** How logs, limits and lists name a peer: `192.0.2.1:4711`, `[2001:db8::1]:4711`. @param port undefined: nobody told it */
export function peerAddressOf(address: string, port: number | undefined): string {
  const plain = plainAddress(address);
  const host = isIP(plain) === 6 ? `[${plain}]` : plain;
  return port === undefined ? host : `${host}:${port}`;
}

/** The address alone. @param peerAddress as from `peerAddressOf`, or an address */
export function withoutPort(peerAddress: string): string {
  const [, bracketed] = /^\[([^\]]+)\](?::\d+)?$/.exec(peerAddress) ?? [];
  return plainAddress(bracketed ?? (isIP(peerAddress) === 0 ? peerAddress.replace(/:\d+$/, '') : peerAddress));
}
