/** Loopback addresses with a port that the host administrator may allow as targets of webhooks (D43). */
import { isIPv4, isIPv6 } from 'node:net';
import { invalidArgument } from '@platform/base';
import { addressKind } from './address-kind.ts';

export interface LoopbackTarget {
  /** Four decimal numbers, or ::1. */
  readonly address: string;
  /** 1 to 65,535. */
  readonly port: number;
}

/** Which loopback targets webhooks of an organization may go to. Both answers are for this moment. */
export interface LoopbackRule {
  /** Whether the platform itself or its database listens on this port: webhooks never go there. */
  isOwnPort(port: number): boolean;
  /** @param address as resolved, or as the socket has it */
  allows(organizationId: string, address: string, port: number): boolean;
}

/** Other forms, such as IPv4 addresses embedded in IPv6 ones, can be neither allowed nor reached. */
export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || (isIPv4(address) && address.startsWith('127.'));
}

export function targetText({ address, port }: LoopbackTarget): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/**
 * @param text such as `127.0.0.1:1880` or `[::1]:1880`
 * @param name of the argument or option, for the error
 * @throws invalid_argument for anything but one loopback address and one port
 */
export function readLoopbackTarget(text: string, name: string): LoopbackTarget {
  const [, v6, v4, digits] = /^(?:\[([\da-f:.]+)\]|([\d.]+)):(\d{1,5})$/i.exec(text) ?? [];
  const address = v6 === undefined ? v4 : isIPv6(v6) ? new URL(`http://[${v6}]`).hostname.slice(1, -1) : undefined;
  const port = Number(digits);
  const expected = `${name}: expected a loopback address and a port, such as 127.0.0.1:1880 or [::1]:1880, found ${JSON.stringify(text)}`;
  if (address === undefined || !(isIPv4(address) || isIPv6(address)) || port < 1 || port > 65_535)
    throw invalidArgument(expected);
  if (isLoopbackAddress(address)) return { address, port };
  const { kind, range } = addressKind(address);
  if (kind === 'public') throw invalidArgument(`${expected}; webhooks to public addresses need no permission`);
  if (kind === 'private')
    throw invalidArgument(
      `${expected}, which is ${range}; webhooks to private ranges are a setting of the installation, PLATFORM_WEBHOOK_ALLOW_PRIVATE`,
    );
  throw invalidArgument(`${expected}, which is ${range}; no setting allows it`);
}
