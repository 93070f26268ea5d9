/** Pseudo-terminals (pty(7)): a program uses one end as its terminal, and this process the other. */
import type { Duplex } from 'node:stream';
import { ReadStream } from 'node:tty';
import { deviceError } from './device-error.ts';
import type { Kernel } from './kernel.ts';

export interface Terminal {
  /** The output and input of the program. Ends with an error (EIO) when the last program has closed its end. */
  readonly stream: Duplex;
  /** The program's end. */
  readonly path: string;
  /** In characters. */
  resize(columns: number, rows: number): void;
}

const requests = { unlock: 0x40045431, number: 0x80045430, size: 0x5414 };
const multiplexer = '/dev/ptmx';

/** Destroying its stream frees it. @throws PlatformError */
export async function openTerminal(kernel: Kernel): Promise<Terminal> {
  let fd: number | undefined;
  try {
    fd = await kernel.open(multiplexer);
    kernel.control(fd, requests.unlock, Buffer.alloc(4));
    const number = Buffer.alloc(4);
    kernel.control(fd, requests.number, number);
    const opened = fd;
    // The stream owns the descriptor from here on.
    const stream: Duplex = new ReadStream(opened);
    return {
      stream,
      path: `/dev/pts/${number.readUInt32LE(0)}`,
      resize(columns, rows) {
        const size = Buffer.alloc(8);
        size.writeUInt16LE(rows, 0);
        size.writeUInt16LE(columns, 2);
        if (!stream.destroyed) kernel.control(opened, requests.size, size);
      },
    };
  } catch (caught) {
    if (fd !== undefined) await kernel.close(fd);
    throw await deviceError(multiplexer, caught);
  }
}
