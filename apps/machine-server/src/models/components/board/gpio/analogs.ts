/** Analog readers of a GPIO board: channels of an MCP3004, MCP3008, MCP3204 or MCP3208 converter on an SPI bus. */
import { unavailable } from '@platform/base';
import type { Kernel } from '../../../../hardware/kernel.ts';
import { openSpi } from '../../../../hardware/spi.ts';

export interface Analog {
  readonly name: string;
  readonly channel: number;
  /** Such as `/dev/spidev0.0`. */
  readonly device: string;
  readonly bits: 10 | 12;
  /** The voltage of the largest value. */
  readonly referenceVolts: number;
}

/** Within the limits of all these chips at 2.7 V. */
const speedHz = 1_000_000;

/** The device is open only during the reading, so that several resources can share the bus. */
export async function readAnalog({ channel, device, bits }: Analog, kernel: Kernel): Promise<number> {
  await using spi = await openSpi(device, speedHz, kernel);
  const request = bits === 10 ? [1, (8 + channel) << 4, 0] : [6 + (channel >> 2), (channel & 3) << 6, 0];
  const answer = await spi.transfer(Uint8Array.from(request));
  // The chip pulls the line low before its value; without a chip it floats.
  const nullBit = bits === 10 ? 0x04 : 0x10;
  if (((answer[1] ?? 0) & nullBit) !== 0)
    throw unavailable(`${device}: no converter answers; check the wiring, and spi_bus and chip_select`);
  return ((answer[1] ?? 0) & (nullBit - 1)) * 256 + (answer[2] ?? 0);
}
