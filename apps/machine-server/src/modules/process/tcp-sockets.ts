/** The list that Linux keeps of the TCP sockets of this computer. */
import { open } from 'node:fs/promises';
import { endianness } from 'node:os';
import { resourceExhausted, unavailable } from '@platform/base';

export interface Endpoint {
  /** IPv4, also as `::ffff:127.0.0.1`. */
  readonly address: string;
  readonly port: number;
}

export interface TcpSocket {
  /** As in `/proc/<pid>/fd`: `socket:[<inode>]`. Empty: no process has it any more. */
  readonly inode: string;
  /** The account that opened it. */
  readonly uid: number;
}

/** About 50,000 sockets. */
const maxBytes = 8 * 1_024 * 1_024;
const chunkBytes = 64 * 1_024;
const mapped = '0000000000000000FFFF0000';

/**
 * The socket at one end of a connection, by its own address and that of the other end.
 *
 * @returns undefined if there is none. @throws unavailable if the list cannot be read, resource_exhausted if it is too long
 */
export async function findTcpSocket(own: Endpoint, other: Endpoint): Promise<TcpSocket | undefined> {
  const [ownText, otherText] = [textOf(own), textOf(other)];
  const lists = [
    ['/proc/net/tcp', ` ${ownText} ${otherText} `],
    ['/proc/net/tcp6', ` ${mapped}${ownText} ${mapped}${otherText} `],
  ] as const;
  // While sockets come and go, one reading may skip a line.
  for (let attempt = 0; attempt < 2; attempt++)
    for (const [file, ends] of lists) {
      const line = await lineWith(file, ends);
      if (line === undefined) continue;
      const [uid = '', , inode = ''] = line.trim().split(/ +/).slice(7);
      return { inode: inode === '0' ? '' : inode, uid: Number(uid) };
    }
  return undefined;
}

async function lineWith(file: string, part: string): Promise<string | undefined> {
  await using handle = await open(file).catch((caught: NodeJS.ErrnoException) => {
    // A computer without IPv6.
    if (caught.code === 'ENOENT' && file.endsWith('6')) return undefined;
    throw unavailable(`${file} cannot be read: ${caught.code ?? caught.message}`, caught);
  });
  if (handle === undefined) return undefined;
  const chunk = Buffer.alloc(chunkBytes);
  let text = '';
  for (let total = 0; ; ) {
    const { bytesRead } = await handle.read(chunk, 0, chunkBytes, null);
    if (bytesRead === 0) return undefined;
    total += bytesRead;
    if (total > maxBytes) throw resourceExhausted(`${file} has more than ${maxBytes} bytes`);
    text += chunk.toString('latin1', 0, bytesRead);
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    const found = lines.find((line) => line.includes(part));
    if (found !== undefined) return found;
  }
}

/** `0100007F:1F90`: the address in the order of this computer's bytes. */
function textOf({ address, port }: Endpoint): string {
  const bytes = address
    .replace(/^::ffff:/, '')
    .split('.')
    .map(Number);
  if (endianness() === 'LE') bytes.reverse();
  const hex = (value: number, digits: number): string => value.toString(16).toUpperCase().padStart(digits, '0');
  return `${bytes.map((byte) => hex(byte, 2)).join('')}:${hex(port, 4)}`;
}
