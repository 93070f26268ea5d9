/** A pair of connected terminals (pty(7)), for tests: what one end writes, the other reads, as over a serial cable. */
import type { Duplex } from 'node:stream';
import { ReadStream } from 'node:tty';
import { onTestFinished } from 'vitest';
import { openKernel } from '../hardware/kernel.ts';

export interface PseudoTerminal {
  /** The end of the device. */
  readonly device: Duplex;
  /** The path of the other end, which acts as a serial port. */
  readonly path: string;
}

const requests = { unlock: 0x40045431, number: 0x80045430 };

/** Closed at the end of the test. */
export async function openPseudoTerminal(): Promise<PseudoTerminal> {
  const kernel = await openKernel();
  const fd = await kernel.open('/dev/ptmx');
  kernel.control(fd, requests.unlock, Buffer.alloc(4));
  const number = Buffer.alloc(4);
  kernel.control(fd, requests.number, number);
  const device: Duplex = new ReadStream(fd);
  // The other end was closed.
  device.on('error', () => {});
  onTestFinished(() => void device.destroy());
  return { device, path: `/dev/pts/${number.readUInt32LE(0)}` };
}
