/** Devices on an I²C bus (`/dev/i2c-1`), through linux/i2c-dev.h. */
import { createLimiter, dataLoss, type PlatformError, unavailable } from '@platform/base';
import { codeOf, deviceError } from './device-error.ts';
import type { Kernel } from './kernel.ts';

export interface I2cDevice extends AsyncDisposable {
  /** Names the device in errors: `/dev/i2c-1, address 0x40`. */
  readonly name: string;
  /** A register of 16 bits, the high byte first. @throws PlatformError */
  readRegister(register: number): Promise<number>;
  writeRegister(register: number, value: number): Promise<void>;
}

/** ioctl: reads and writes of this file go to this address. */
const slave = 0x703;
const silent: readonly string[] = ['EREMOTEIO', 'ENXIO', 'EIO', 'ETIMEDOUT'];

/** @param bus its number, or its path */
export async function openI2c(bus: string, address: number, kernel: Kernel): Promise<I2cDevice> {
  const path = /^\d+$/.test(bus) ? `/dev/i2c-${bus}` : bus;
  const hex = `0x${address.toString(16)}`;
  const name = `${path}, address ${hex}`;
  const hints = {
    ENOENT: 'enable I²C on this computer (on a Raspberry Pi: raspi-config), or correct i2c_bus',
    ENOTTY: 'expected an I²C bus such as /dev/i2c-1',
    EBUSY: 'a driver of the kernel uses this address: unload it, or read its values from /sys/class/hwmon',
  };
  const explain = async (caught: unknown): Promise<PlatformError> =>
    silent.includes(codeOf(caught))
      ? unavailable(
          `${name}: no device answers (${codeOf(caught)}); check its wiring, its power and i2c_addr (i2cdetect -y ${path.replace(/^.*-/, '')})`,
          caught,
        )
      : await deviceError(path, caught, hints);
  let fd: number | undefined;
  try {
    fd = await kernel.open(path);
    kernel.control(fd, slave, address);
  } catch (caught) {
    if (fd !== undefined) await kernel.close(fd);
    throw await explain(caught);
  }
  const opened = fd;
  const oneByOne = createLimiter(1);
  /** Reads one after the other, because each read depends on the register number written before it. */
  const inTurn = <T>(run: () => Promise<T>): Promise<T> =>
    oneByOne(run).catch(async (caught: unknown) => {
      throw await explain(caught);
    });
  return {
    name,
    readRegister: (register) =>
      inTurn(async () => {
        await kernel.write(opened, Uint8Array.of(register));
        const bytes = Buffer.alloc(2);
        const read = await kernel.read(opened, bytes);
        if (read === bytes.length) return bytes.readUInt16BE();
        throw dataLoss(`${name}: expected 2 bytes of register ${register}, found ${read}`);
      }),
    writeRegister: (register, value) =>
      inTurn(async () => {
        await kernel.write(opened, Uint8Array.of(register, value >> 8, value & 0xff));
      }),
    async [Symbol.asyncDispose]() {
      await oneByOne(async () => {});
      await kernel.close(opened);
    },
  };
}
