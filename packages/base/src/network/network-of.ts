import { isIP } from 'node:net';
import { withoutPort } from './peer-address.ts';

/**
 * Who is behind an address, for limits. Drops the port. For IPv6, keeps only the first 64 bits, because a provider assigns all of these
 * addresses to one customer.
 *
 * @param peerAddress an address, or `address:port`
 */
export function networkOf(peerAddress: string): string {
  const address = withoutPort(peerAddress);
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length);
  const whole = [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...(tail ? tail.split(':') : [])];
  return `${whole
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
