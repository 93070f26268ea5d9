/** Devices on an SPI bus (`/dev/spidev0.0`), through linux/spi/spidev.h. */
import { deviceError } from './device-error.ts';
import type { Kernel } from './kernel.ts';

export interface SpiDevice extends AsyncDisposable {
  /** Sends these bytes; returns the same number of bytes, received meanwhile. @throws PlatformError */
  transfer(bytes: Uint8Array): Promise<Buffer>;
}

const oneMessage = 0x40206b00;
/** struct spi_ioc_transfer: tx_buf, rx_buf, len, speed_hz, delay_usecs, bits_per_word, … */
const transferBytes = 32;

export async function openSpi(path: string, speedHz: number, kernel: Kernel): Promise<SpiDevice> {
  const hints = {
    ENOENT: 'enable SPI on this computer (on a Raspberry Pi: raspi-config), or correct spi_bus and chip_select',
    ENOTTY: 'expected an SPI device',
  };
  try {
    const fd = await kernel.open(path);
    return {
      async transfer(bytes) {
        // The kernel gets only their addresses, so both must stay referenced until the call has returned.
        const [sent, received] = [Buffer.from(bytes), Buffer.alloc(bytes.length)];
        const message = Buffer.alloc(transferBytes);
        message.writeBigUInt64LE(kernel.addressOf(sent), 0);
        message.writeBigUInt64LE(kernel.addressOf(received), 8);
        message.writeUInt32LE(bytes.length, 16);
        message.writeUInt32LE(speedHz, 20);
        message.writeUInt8(8, 26);
        try {
          kernel.control(fd, oneMessage, message);
        } catch (caught) {
          throw await deviceError(path, caught, hints);
        }
        return received.subarray(0, sent.length);
      },
      async [Symbol.asyncDispose]() {
        await kernel.close(fd);
      },
    };
  } catch (caught) {
    throw await deviceError(path, caught, hints);
  }
}
