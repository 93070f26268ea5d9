/** The reverse proxies whose word counts: their headers say from which address a request comes (`PLATFORM_TRUSTED_PROXIES`). */
import { BlockList, isIP } from 'node:net';
import { invalidValue } from '../errors.ts';

export interface TrustedProxies {
  /** @param address without a port */
  has(address: string | undefined): boolean;
}

export const noProxies: TrustedProxies = { has: () => false };

/**
 * @param text addresses and networks, separated by commas or spaces: `127.0.0.1, 10.0.0.0/8, fd00::/8`
 * @throws invalid_argument that names the variable
 */
export function parseTrustedProxies(text: string | undefined): TrustedProxies {
  const entries = (text ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  if (entries.length === 0) return noProxies;
  const list = new BlockList();
  for (const entry of entries) {
    const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
    const version = isIP(address);
    const most = version === 4 ? 32 : 128;
    if (version === 0 || Number(bits ?? 0) > most)
      throw invalidValue('PLATFORM_TRUSTED_PROXIES', 'addresses or networks such as 127.0.0.1, 10.0.0.0/8', entry);
    list.addSubnet(address, bits === undefined ? most : Number(bits), version === 4 ? 'ipv4' : 'ipv6');
  }
  return {
    has(address = '') {
      const plain = plainAddress(address);
      const version = isIP(plain);
      return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6');
    },
  };
}

/** IPv4 that arrives on a port of IPv6, and link-local addresses, which name an interface, in their plain form. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '').replace(/%.*$/, '');
}
