import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';
import { openKernel } from '../hardware/kernel.ts';
import { openTerminal } from '../hardware/terminal.ts';

export interface PseudoTerminal {
  /** The end of the device. */
  readonly device: Duplex;
  /** The path of the other end, which acts as a serial port. */
  readonly path: string;
}

/** A pair of connected terminals: what one end writes, the other reads, as over a serial cable. Closed at the end of the test. */
export async function openPseudoTerminal(): Promise<PseudoTerminal> {
  const { stream: device, path } = await openTerminal(await openKernel());
  // The other end was closed.
  device.on('error', () => {});
  onTestFinished(() => void device.destroy());
  return { device, path };
}
