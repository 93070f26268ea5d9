/** Classifies an IP address by the network that it leads to, in whatever form it is written or embedded. */
import { isIP } from 'node:net';

export interface AddressKind {
  /** `local`: this host, its links, cloud metadata, and anything but ordinary unicast addresses. `private`: the operator's own networks. */
  readonly kind: 'public' | 'private' | 'local';
  /** The range in words, for error messages. */
  readonly range: string;
}

type Range = readonly [prefix: string, bits: number, kind: AddressKind['kind'], words: string];

// The first match wins.
const ranges4: readonly Range[] = [
  ['100.100.100.200', 32, 'local', 'a cloud metadata address'],
  ['168.63.129.16', 32, 'local', 'a cloud metadata address'],
  ['169.254.169.254', 32, 'local', 'a cloud metadata address'],
  ['169.254.0.0', 16, 'local', 'link-local'],
  ['127.0.0.0', 8, 'local', 'loopback'],
  ['0.0.0.0', 8, 'local', 'this host'],
  ['10.0.0.0', 8, 'private', 'private range 10.0.0.0/8'],
  ['172.16.0.0', 12, 'private', 'private range 172.16.0.0/12'],
  ['192.168.0.0', 16, 'private', 'private range 192.168.0.0/16'],
  ['100.64.0.0', 10, 'private', 'shared range 100.64.0.0/10'],
  ['192.0.0.0', 24, 'local', 'reserved range 192.0.0.0/24'],
  ['192.0.2.0', 24, 'local', 'a documentation range'],
  ['198.51.100.0', 24, 'local', 'a documentation range'],
  ['203.0.113.0', 24, 'local', 'a documentation range'],
  ['192.88.99.0', 24, 'local', 'reserved range 192.88.99.0/24'],
  ['198.18.0.0', 15, 'local', 'a benchmarking range'],
  ['224.0.0.0', 4, 'local', 'multicast'],
  ['240.0.0.0', 4, 'local', 'reserved range 240.0.0.0/4'],
];

const ranges6: readonly Range[] = [
  ['fd00:ec2::254', 128, 'local', 'a cloud metadata address'],
  ['fd20:ce::254', 128, 'local', 'a cloud metadata address'],
  ['::1', 128, 'local', 'loopback'],
  ['::', 128, 'local', 'this host'],
  ['fe80::', 10, 'local', 'link-local'],
  ['fc00::', 7, 'private', 'private range fc00::/7'],
  ['fec0::', 10, 'private', 'private range fec0::/10'],
  ['64:ff9b:1::', 48, 'local', 'a local translation range'],
  ['2001::', 32, 'local', 'a tunnel range'],
  ['2001:10::', 28, 'local', 'reserved range 2001:10::/28'],
  ['2001:db8::', 32, 'local', 'a documentation range'],
  ['3fff::', 20, 'local', 'a documentation range'],
  ['ff00::', 8, 'local', 'multicast'],
];

// Where an IPv4 address is embedded in an IPv6 address that leads to it.
const embeddings: readonly [prefix: string, bits: number, at: number][] = [
  ['::ffff:0:0', 96, 12],
  ['::ffff:0:0:0', 96, 12],
  ['::', 96, 12],
  ['64:ff9b::', 96, 12],
  ['2002::', 16, 2],
];

/** @param text an address without brackets or port, as returned by the resolver or the socket */
export function addressKind(text: string): AddressKind {
  const address = addressBytes(text);
  if (address === undefined) return { kind: 'local', range: 'not an IP address' };
  return address.length === 4 ? kind4(address) : kind6(address);
}

function kind4(address: Uint8Array): AddressKind {
  return find(tables.four, address) ?? { kind: 'public', range: 'public' };
}

function kind6(address: Uint8Array): AddressKind {
  const known = find(tables.six, address);
  if (known) return known;
  for (const { prefix, bits, at } of tables.embedded) {
    if (within(address, prefix, bits)) return kind4(address.subarray(at, at + 4));
  }
  // Intra-site tunnels contain their IPv4 endpoint in the interface id, under any prefix.
  if (address[10] === 0x5e && address[11] === 0xfe && (address[8]! & 0xfd) === 0 && address[9] === 0) {
    return { kind: 'local', range: 'a tunnel address' };
  }
  // Public unicast addresses are in 2000::/3; all others are unassigned or special.
  return (address[0]! & 0xe0) === 0x20
    ? { kind: 'public', range: 'public' }
    : { kind: 'local', range: 'not a public unicast address' };
}

interface Entry extends AddressKind {
  readonly prefix: Uint8Array;
  readonly bits: number;
}

const tables = {
  four: ranges4.map(entry),
  six: ranges6.map(entry),
  embedded: embeddings.map(([prefix, bits, at]) => ({ prefix: addressBytes(prefix) ?? new Uint8Array(16), bits, at })),
};

function entry([prefix, bits, kind, range]: Range): Entry {
  const bytes = addressBytes(prefix);
  if (!bytes) throw new TypeError(`not an address: ${prefix}`);
  return { prefix: bytes, bits, kind, range };
}

function find(entries: readonly Entry[], address: Uint8Array): Entry | undefined {
  return entries.find(({ prefix, bits }) => within(address, prefix, bits));
}

function within(address: Uint8Array, prefix: Uint8Array, bits: number): boolean {
  for (let i = 0; i < bits; i += 8) {
    const mask = bits - i >= 8 ? 0xff : (0xff << (8 - (bits - i))) & 0xff;
    if ((address[i >> 3]! & mask) !== (prefix[i >> 3]! & mask)) return false;
  }
  return true;
}

/** 4 or 16 bytes; undefined if it is not an address. A zone (`%eth0`) is ignored. */
function addressBytes(text: string): Uint8Array | undefined {
  const bare = text.replace(/%.*$/, '');
  const version = isIP(bare);
  if (version === 4) return Uint8Array.from(bare.split('.'), Number);
  if (version !== 6) return undefined;
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(bare);
  const hex = dotted ? `${dotted[1]}${group(dotted[2]!, dotted[3]!)}:${group(dotted[4]!, dotted[5]!)}` : bare;
  const [head = '', tail] = hex.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
  return Uint8Array.from(groups.flatMap((text) => [Number.parseInt(text, 16) >> 8, Number.parseInt(text, 16) & 0xff]));
}

function group(high: string, low: string): string {
  return (Number(high) * 256 + Number(low)).toString(16);
}
