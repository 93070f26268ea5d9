/** The address on which the server listens (D16). */

export interface BindAddress {
  readonly host: string;
  readonly port: number;
  /** The port is the default: if another program uses it, the next free one is used. */
  readonly isUsual: boolean;
  /** Whether other computers can reach it. */
  readonly isPublic: boolean;
}

const usualPort = 8080;

/**
 * @param text `host:port` from `network.bind_address` or PLATFORM_BIND_ADDRESS; undefined or empty: loopback, 8080. Without a host: all
 * addresses of this computer
 * @throws invalid_argument
 */
export function parseBindAddress(text: string | undefined): BindAddress {
  if (text === undefined || text === '') return { host: '127.0.0.1', port: usualPort, isUsual: true, isPublic: false };
  const colon = text.lastIndexOf(':');
  const port = Number(text.slice(colon + 1));
  if (colon < 0 || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw invalidArgument(`network.bind_address or PLATFORM_BIND_ADDRESS: expected host:port, found "${text}"`);
  }
  const host = text.slice(0, colon).replace(/^\[(.*)\]$/, '$1') || '0.0.0.0';
  return { host, port, isUsual: false, isPublic: !/^(127\.|localhost$|::1$)/.test(host) };
}

import { invalidArgument } from '@platform/base';
