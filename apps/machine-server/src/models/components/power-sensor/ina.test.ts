/** Registers according to the data sheets of the chips (Texas Instruments SBOS448 and SBOS547). */
import { PowerSensorService } from '@platform/proto/platform/component/powersensor/v1/powersensor';
import { expect, test } from 'vitest';
import { type Kernel, systemError } from '../../../hardware/kernel.ts';
import { buildModel, buildReadable, clientOf } from '../../../testing/build-model.ts';
import { createIna219, createIna226 } from './ina.ts';

const errno = { eacces: 13, enoent: 2, eremoteio: 121, enotty: 25 };

/** A bus with one chip. */
function createBus(address: number, registers: Record<number, number>) {
  const state = { closed: 0, calls: [] as string[] };
  let selected = 0;
  let pointer = 0;
  const kernel: Kernel = {
    async open(path) {
      state.calls.push(`open ${path}`);
      if (path !== '/dev/i2c-1') throw systemError(errno.enoent);
      return 5;
    },
    close: async () => void state.closed++,
    control(_fd, request, argument) {
      if (request !== 0x703 || typeof argument !== 'number') throw systemError(errno.enotty);
      selected = argument;
      return 0;
    },
    async write(_fd, bytes) {
      if (selected !== address) throw systemError(errno.eremoteio);
      state.calls.push(`write ${Buffer.from(bytes).toString('hex')}`);
      pointer = bytes[0] ?? 0;
      if (bytes.length === 3) registers[pointer] = Buffer.from(bytes).readUInt16BE(1);
      return bytes.length;
    },
    async read(_fd, into) {
      Buffer.from(into.buffer, into.byteOffset, into.length).writeUInt16BE(registers[pointer] ?? 0);
      return 2;
    },
    addressOf: () => 0n,
  };
  const [ina219, ina226] = [createIna219(async () => kernel), createIna226(async () => kernel)];
  if (ina219 === undefined || ina226 === undefined) throw new Error('expected two models');
  return { ina219, ina226, registers, state };
}

test('an INA219 measures voltage, current and power', async () => {
  // 12.004 V and 32.5 mV across 0.05 ohms.
  const { ina219, state } = createBus(0x41, { 1: 3_250, 2: (3_001 << 3) | 2 });
  const resource = await buildModel(ina219, { i2c_bus: 1, i2c_addr: 0x41, shunt_resistance: 0.05 });
  const sensor = clientOf(PowerSensorService, resource);
  expect((await sensor.getVoltage({})).volts).toBeCloseTo(12.004, 9);
  expect((await sensor.getCurrent({})).amperes).toBeCloseTo(0.65, 9);
  expect((await sensor.getPower({})).watts).toBeCloseTo(7.8026, 9);
  expect(state.calls).toEqual(['open /dev/i2c-1', 'write 00399f', 'write 02', 'write 01', 'write 02', 'write 01']);
  await resource.close();
  expect(state.closed).toBe(1);
});

test('an INA226 is recognised, and measures a negative current', async () => {
  const { ina226, registers } = createBus(0x40, { 1: 0x1_0000 - 4_000, 2: 9_600, 254: 0x5449 });
  const sensor = await buildReadable(ina226, { i2c_bus: '/dev/i2c-1' });
  expect(await sensor.readings({})).toEqual({
    volts: 12,
    amperes: expect.closeTo(-0.1, 9),
    watts: expect.closeTo(-1.2, 9),
    is_ac: false,
  });
  registers[1] = 0x7fff;
  await expect(sensor.readings({})).rejects.toThrow(
    '/dev/i2c-1, address 0x40: the current exceeds what the chip measures, 0.82 A; use a smaller shunt',
  );
});

test('a missing bus, a missing device and another chip are errors that say what to do, and the bus is freed', async () => {
  const { ina219, ina226, state } = createBus(0x40, { 254: 1 });
  await expect(buildModel(ina219, { i2c_bus: 7 })).rejects.toThrow(
    '/dev/i2c-7: it does not exist; enable I²C on this computer',
  );
  await expect(buildModel(ina219, { i2c_addr: 0x44 })).rejects.toThrow(
    '/dev/i2c-1, address 0x44: no device answers (EREMOTEIO); check its wiring, its power and i2c_addr (i2cdetect -y 1)',
  );
  await expect(buildModel(ina226, {})).rejects.toThrow('expected an ina226, found another chip (manufacturer 0x1)');
  await expect(buildModel(ina226, { i2c_bus: true })).rejects.toThrow(
    'attributes.i2c_bus: expected a number or a path',
  );
  expect(state.closed).toBe(2);
});
