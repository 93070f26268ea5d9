import { systemClock } from '@platform/base';
import type { JsonObject } from '@platform/machine-config/schema';
import { BoardService } from '@platform/proto/platform/component/board/v1/board';
import type { Resource } from '@platform/resources';
import type { Client } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { systemError } from '../../../hardware/kernel.ts';
import { buildModel, clientOf } from '../../../testing/build-model.ts';
import { createFakeGpio, type FakeGpio } from '../../../testing/fake-gpio.ts';
import { createGpioBoard } from './gpio.ts';

async function build(
  gpio: FakeGpio,
  attributes: JsonObject = {},
): Promise<{ board: Client<typeof BoardService>; resource: Resource }> {
  const resource = await buildModel(createGpioBoard(systemClock, gpio.kernel, gpio.createPwm), attributes);
  return { board: clientOf(BoardService, resource), resource };
}

test('a pin is set and read by number or name, and freed when the board is closed', async () => {
  const gpio = createFakeGpio();
  const { board, resource } = await build(gpio, { pins: [{ pin: 'GPIO1', bias: 'pull_up', active_low: true }] });
  await board.setGPIO({ pin: '0', high: true });
  expect([gpio.levels[0], gpio.used.get(0)]).toEqual([true, 'output']);
  expect(await board.getGPIO({ pin: 'GPIO0' })).toMatchObject({ high: true });
  gpio.levels[1] = true;
  expect(await board.getGPIO({ pin: 'GPIO1' })).toMatchObject({ high: true });
  expect(gpio.used.get(1)).toBe('input pull_up active_low');
  // An input becomes an output.
  await board.setGPIO({ pin: '1', high: false });
  expect([gpio.levels[1], gpio.used.get(1)]).toEqual([false, 'output active_low']);
  await resource.close();
  expect(gpio.used.size).toBe(0);
});

test('PWM: duty and frequency make pulses, a level ends them, and a closed board leaves its pins low', async () => {
  const gpio = createFakeGpio();
  const { board, resource } = await build(gpio);
  expect(await board.pWMFrequency({ pin: '0' })).toMatchObject({ frequencyHz: 800n });
  await board.setPWMFrequency({ pin: '0', frequencyHz: 50n });
  await board.setPWM({ pin: '0', dutyCyclePct: 0.25 });
  expect(gpio.pulses.get(0)).toEqual({ periodMs: 20, duty: 0.25 });
  expect(await board.pWM({ pin: '0' })).toMatchObject({ dutyCyclePct: 0.25 });
  await board.setPWMFrequency({ pin: '0', frequencyHz: 100n });
  expect(gpio.pulses.get(0)).toEqual({ periodMs: 10, duty: 0.25 });
  await board.setPWM({ pin: '0', dutyCyclePct: 1 });
  expect([gpio.pulses.size, gpio.levels[0]]).toEqual([0, true]);
  await board.setPWM({ pin: '0', dutyCyclePct: 0.5 });
  await board.setGPIO({ pin: '0', high: true });
  expect([gpio.pulses.size, gpio.levels[0]]).toEqual([0, true]);
  await board.setPWM({ pin: '0', dutyCyclePct: 0.5 });
  gpio.levels[0] = true;
  await resource.close();
  expect([gpio.pulses.size, gpio.levels[0]]).toEqual([0, false]);
  await expect(board.setPWM({ pin: '0', dutyCyclePct: 2 })).rejects.toThrow('duty_cycle_pct: expected 0 to 1, found 2');
  await expect(board.setPWMFrequency({ pin: '0', frequencyHz: 2_000n })).rejects.toThrow('expected at most 1000');
});

test('a digital interrupt counts both edges and streams them with the times of the kernel; lost ones are counted', async () => {
  const gpio = createFakeGpio();
  const { board } = await build(gpio, {
    digital_interrupts: [{ name: 'wheel', pin: 2, bias: 'pull_up', debounce_us: 100 }],
  });
  expect(gpio.used.get(2)).toBe('edges pull_up');
  const ticks = board.streamTicks({ pinNames: ['wheel'] })[Symbol.asyncIterator]();
  const first = ticks.next();
  gpio.edge(2, true, 5_000n);
  gpio.edge(2, false, 9_000n, 3);
  expect((await first).value).toMatchObject({ pinName: 'wheel', time: 5_000n, high: true });
  expect((await ticks.next()).value).toMatchObject({ time: 9_000n, high: false });
  expect(await board.getDigitalInterruptValue({ digitalInterruptName: 'wheel' })).toMatchObject({ value: 5n });
  expect(await board.getStatus({})).toMatchObject({ result: { digital_interrupts: { wheel: 5 } } });
  await expect(board.getGPIO({ pin: '2' })).rejects.toThrow('pin 2 belongs to the digital interrupt "wheel"');
  await expect(board.getDigitalInterruptValue({ digitalInterruptName: 'x' })).rejects.toThrow(
    'no digital interrupt "x"; it has: wheel',
  );
});

test('pins that do not exist or are in use, and a missing chip, are reported', async () => {
  const gpio = createFakeGpio();
  const { board } = await build(gpio);
  await expect(board.getGPIO({ pin: '4' })).rejects.toThrow('/dev/gpiochip0 (fake) has no pin 4; its lines are 0 to 3');
  await expect(board.getGPIO({ pin: 'GPIO9' })).rejects.toThrow('has no pin "GPIO9"; it has: GPIO0, GPIO1, LED');
  await expect(board.setGPIO({ pin: 'LED', high: true })).rejects.toThrow('pin 3 is in use by led0; free it there');
  await expect(build(createFakeGpio(), { chip: '/dev/gpiochip9' })).rejects.toThrow(
    '/dev/gpiochip9: it does not exist',
  );
});

test('a build that fails frees the lines that it took', async () => {
  const gpio = createFakeGpio();
  const interrupts = [
    { name: 'a', pin: 0 },
    { name: 'b', pin: 'LED' },
  ];
  await expect(build(gpio, { digital_interrupts: interrupts })).rejects.toThrow('in use by led0');
  expect(gpio.used.size).toBe(0);
});

test('an analog reader asks its converter over SPI', async () => {
  const gpio = createFakeGpio();
  const kernel = await gpio.kernel();
  const sent: string[] = [];
  const addressed: Uint8Array[] = [];
  const answers = [Buffer.from([0, 0x02, 0x9a]), Buffer.from([0, 0x0f, 0xff]), Buffer.from([0xff, 0xff, 0xff])];
  const withSpi = async () => ({
    ...kernel,
    open: async (path: string) => (path === '/dev/spidev0.1' ? 9 : kernel.open(path)),
    addressOf: (bytes: Uint8Array) => BigInt(addressed.push(bytes)),
    control(fd: number, request: number, argument: Uint8Array | number) {
      if (fd !== 9) return kernel.control(fd, request, argument);
      if (request !== 0x40206b00) throw systemError(25);
      sent.push(
        `${Buffer.from(argument as Uint8Array).toString('hex')} ${Buffer.from(addressed.at(-2) ?? []).toString('hex')}`,
      );
      addressed.at(-1)?.set(answers.shift() ?? []);
      return 3;
    },
  });
  const analogs = [
    { name: 'light', channel: '2', chip_select: 1 },
    { name: 'fine', channel: 5, chip_select: 1, bits: 12, reference_volts: 5 },
  ];
  const board = clientOf(
    BoardService,
    await buildModel(createGpioBoard(systemClock, withSpi, gpio.createPwm), { analogs }),
  );
  expect(await board.readAnalogReader({ analogReaderName: 'light' })).toMatchObject({
    value: 666,
    stepSize: expect.closeTo(3.3 / 1_024, 6),
  });
  expect(await board.readAnalogReader({ analogReaderName: 'fine' })).toMatchObject({ value: 4_095, maxRange: 5 });
  // The same bytes as from C with linux/spi/spidev.h, with the requests for channels 2 and 5.
  expect(sent).toEqual([
    '010000000000000002000000000000000300000040420f000000080000000000 01a000',
    expect.stringContaining(' 074000'),
  ]);
  await expect(board.readAnalogReader({ analogReaderName: 'light' })).rejects.toThrow(
    '/dev/spidev0.1: no converter answers',
  );
  await expect(board.readAnalogReader({ analogReaderName: 'x' })).rejects.toThrow(
    'no analog reader "x"; it has: light, fine',
  );
});

test.each([
  [{ pins: [{ pin: '' }] }, 'attributes.pins[0].pin: expected the number or the name of a line, found ""'],
  [{ pins: [{ pin: 1, bias: 'up' }] }, 'attributes.pins[0].bias: expected pull_up, pull_down, none, found "up"'],
  [{ digital_interrupts: [{ pin: 1 }] }, 'attributes.digital_interrupts[0].name: expected a name, found none'],
  [
    { analogs: [{ name: 'a', channel: 8 }] },
    'attributes.analogs[0].channel: expected a whole number from 0 to 7, found 8',
  ],
])('wrong attributes %j are reported', async (attributes, message) => {
  await expect(build(createFakeGpio(), attributes)).rejects.toThrow(message);
});
