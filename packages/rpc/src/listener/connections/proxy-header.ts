/**
 * Reads the PROXY header, versions 1 and 2, with which a proxy that passes bytes on says who connected to it. It is the first thing in a
 * connection, before TLS. See https://www.haproxy.org/download/1.8/doc/proxy-protocol.txt.
 */
import { isIP } from 'node:net';
import { peerAddressOf } from '@platform/base';

const signature1 = Buffer.from('PROXY ');
const signature2 = Buffer.from('\r\n\r\n\0\r\nQUIT\n');
/** With its line break. */
const maxBytes1 = 107;
const head2 = 16;

export type ProxyHeader =
  /** More bytes are needed to decide. */
  | 'unfinished'
  /** The connection begins with something else. */
  | 'absent'
  /** It begins like one, but is none. */
  | 'broken'
  | {
      readonly bytes: number;
      /** `address:port`; undefined: the proxy speaks for itself, as in a health check. */
      readonly client: string | undefined;
    };

/** @param seen the bytes of the connection so far */
export function readProxyHeader(seen: Buffer): ProxyHeader {
  if (startsLike(seen, signature1)) return seen.length < signature1.length ? 'unfinished' : readText(seen);
  if (startsLike(seen, signature2)) return seen.length < head2 ? 'unfinished' : readBinary(seen);
  return 'absent';
}

/** Whether it is the beginning of the signature, or begins with it. */
function startsLike(seen: Buffer, signature: Buffer): boolean {
  const length = Math.min(seen.length, signature.length);
  return seen.subarray(0, length).equals(signature.subarray(0, length));
}

function readText(seen: Buffer): ProxyHeader {
  const end = seen.subarray(0, maxBytes1).indexOf('\r\n');
  if (end < 0) return seen.length < maxBytes1 ? 'unfinished' : 'broken';
  const [, family = '', address = '', , port = ''] = seen.toString('latin1', 0, end).split(' ');
  const bytes = end + 2;
  if (family === 'UNKNOWN') return { bytes, client: undefined };
  if (`TCP${isIP(address)}` !== family || !/^\d{1,5}$/.test(port)) return 'broken';
  return { bytes, client: peerAddressOf(address, Number(port)) };
}

/** Kinds of addresses (high 4 bits of byte 13), with the length of one address. */
const families: Readonly<Record<number, number>> = { 1: 4, 2: 16 };

function readBinary(seen: Buffer): ProxyHeader {
  const [version, command] = [(seen[12] ?? 0) >> 4, (seen[12] ?? 0) & 0xf];
  const bytes = head2 + seen.readUInt16BE(14);
  if (version !== 2 || command > 1) return 'broken';
  // Further fields are as long as a name and a certificate at most.
  if (bytes > 4_096) return 'broken';
  if (seen.length < bytes) return 'unfinished';
  const length = families[(seen[13] ?? 0) >> 4];
  if (command === 0 || length === undefined) return { bytes, client: undefined };
  if (bytes < head2 + 2 * length + 4) return 'broken';
  const address = seen.subarray(head2, head2 + length);
  const port = seen.readUInt16BE(head2 + 2 * length);
  if (length === 4) return { bytes, client: peerAddressOf([...address].join('.'), port) };
  const groups = Array.from({ length: 8 }, (_, index) => address.readUInt16BE(2 * index).toString(16));
  return { bytes, client: peerAddressOf(groups.join(':'), port) };
}
