/**
 * `core:builtin:ina219` and `core:builtin:ina226`: chips on an I²C bus that measure the voltage of a supply, and its current through a
 * shunt.
 *
 * Attributes: `i2c_bus` (default 1; a number, or a path such as `/dev/i2c-1`), `i2c_addr` (default 64, which is 0x40), `shunt_resistance`
 * (ohms, default 0.1). The current follows from the shunt's voltage; its limit is 0.32 V / ohms (INA219), 0.08192 V / ohms (INA226).
 */
import { failedPrecondition, invalidValue, PlatformError } from '@platform/base';
import type { PowerSensor } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { type I2cDevice, openI2c } from '../../../hardware/i2c.ts';
import type { Kernel } from '../../../hardware/kernel.ts';
import { readAttributes } from '../../attributes.ts';
import { noCommands } from '../../no-commands.ts';

const fields = {
  i2c_bus: { kind: 'any' },
  i2c_addr: { kind: 'int', default: 0x40, min: 0x03, max: 0x77 },
  shunt_resistance: { kind: 'float', default: 0.1, min: 0.000_01 },
} as const;

const registers = { configuration: 0, shuntVoltage: 1, busVoltage: 2, manufacturer: 0xfe };

interface Chip {
  readonly name: string;
  /** Measures continuously, with the widest ranges. */
  readonly configuration: number;
  /** The value of the manufacturer register; undefined if the chip has none. */
  readonly manufacturer: number | undefined;
  readonly shuntVolts: number;
  /** The largest value of the shunt's register. */
  readonly mostShunt: number;
  busVolts(register: number): number;
}

const ina219: Chip = {
  name: 'ina219',
  configuration: 0x399f,
  manufacturer: undefined,
  shuntVolts: 0.000_01,
  mostShunt: 32_000,
  busVolts: (register) => (register >> 3) * 0.004,
};

const ina226: Chip = {
  name: 'ina226',
  configuration: 0x4127,
  manufacturer: 0x5449,
  shuntVolts: 0.000_002_5,
  mostShunt: 32_767,
  busVolts: (register) => register * 0.001_25,
};

export const createIna219 = (kernel: () => Promise<Kernel>): Model => modelOf(ina219, kernel);
export const createIna226 = (kernel: () => Promise<Kernel>): Model => modelOf(ina226, kernel);

function modelOf(chip: Chip, kernel: () => Promise<Kernel>): Model {
  return {
    api: 'core:component:power_sensor',
    model: `core:builtin:${chip.name}`,
    fields,
    async build({ attributes }): Promise<PowerSensor> {
      const { i2c_bus: bus = 1, i2c_addr: address, shunt_resistance: ohms } = readAttributes(fields, attributes);
      if (!(typeof bus === 'string' && bus !== '') && !(typeof bus === 'number' && Number.isInteger(bus) && bus >= 0))
        throw invalidValue('attributes.i2c_bus', 'a number or a path such as /dev/i2c-1', bus);
      const device = await openI2c(String(bus), address, await kernel());
      try {
        await check(chip, device);
        await device.writeRegister(registers.configuration, chip.configuration);
      } catch (caught) {
        await device[Symbol.asyncDispose]();
        throw caught;
      }
      return sensorOf(chip, device, ohms);
    },
  };
}

async function check({ name, manufacturer }: Chip, device: I2cDevice): Promise<void> {
  if (manufacturer === undefined) return;
  const found = await device.readRegister(registers.manufacturer);
  if (found !== manufacturer)
    throw failedPrecondition(
      `${device.name}: expected an ${name}, found another chip (manufacturer 0x${found.toString(16)}); correct the model or i2c_addr`,
    );
}

function sensorOf(chip: Chip, device: I2cDevice, ohms: number): PowerSensor {
  const volts = async (): Promise<number> => chip.busVolts(await device.readRegister(registers.busVoltage));
  const amperes = async (): Promise<number> => {
    const register = ((await device.readRegister(registers.shuntVoltage)) << 16) >> 16;
    if (Math.abs(register) >= chip.mostShunt)
      throw new PlatformError(
        'out_of_range',
        `${device.name}: the current exceeds what the chip measures, ${((chip.mostShunt * chip.shuntVolts) / ohms).toFixed(2)} A; use a smaller shunt`,
      );
    return (register * chip.shuntVolts) / ohms;
  };
  return {
    getVoltage: async () => ({ volts: await volts(), isAc: false }),
    getCurrent: async () => ({ amperes: await amperes(), isAc: false }),
    getPower: async () => ({ watts: (await volts()) * (await amperes()) }),
    async readings() {
      const [v, a] = [await volts(), await amperes()];
      return { volts: v, amperes: a, watts: v * a, is_ac: false };
    },
    doCommand: noCommands(`${chip.name} power sensors have no commands`),
    async close() {
      await device[Symbol.asyncDispose]();
    },
  };
}
