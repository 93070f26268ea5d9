/** Motor, servo and encoders on the pins of a fake board that keeps its levels. */
import { systemClock } from '@platform/base';
import type { JsonObject } from '@platform/machine-config/schema';
import { BoardService } from '@platform/proto/platform/component/board/v1/board';
import { EncoderService, PositionType } from '@platform/proto/platform/component/encoder/v1/encoder';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { ServoService } from '@platform/proto/platform/component/servo/v1/servo';
import type { Resource } from '@platform/resources';
import type { Client } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import type { Model } from '../../graph/model.ts';
import { buildModel, clientOf } from '../../testing/build-model.ts';
import { until } from '../../testing/start-test-server.ts';
import { createFakeBoard } from './board/fake.ts';
import { createFakeEncoder } from './encoder/fake.ts';
import { createIncrementalEncoder, createQuadrature } from './encoder/incremental.ts';
import { createSingleEncoder } from './encoder/single.ts';
import { createGpioMotor } from './motor/gpio.ts';
import { gpioServo } from './servo/gpio.ts';

const motorModel = createGpioMotor(systemClock);

interface Rig {
  readonly resource: Resource;
  readonly pins: Client<typeof BoardService>;
  duty(pin: string): Promise<number>;
}

async function onBoard(model: Model, attributes: JsonObject, more: Record<string, Resource> = {}): Promise<Rig> {
  const digital_interrupts = [
    { name: 'a', pin: '1' },
    { name: 'b', pin: '2' },
  ];
  const board = await buildModel(createFakeBoard(systemClock), { digital_interrupts });
  const pins = clientOf(BoardService, board);
  const dependencies = { 'core:component:board/pi': board, ...more };
  const resource = await buildModel(model, { board: 'pi', ...attributes }, { dependencies });
  return { resource, pins, duty: async (pin) => (await pins.pWM({ pin })).dutyCyclePct };
}

test('a motor with pwm and dir: power, direction, enable pin, and off when it is closed', async () => {
  const { resource, pins, duty } = await onBoard(motorModel, {
    pins: { pwm: 'p', dir: 'd', en_low: 'e' },
    max_power_pct: 0.8,
    pwm_freq: 200,
  });
  const motor = clientOf(MotorService, resource);
  await motor.setPower({ powerPct: -0.5 });
  expect([await duty('p'), (await pins.getGPIO({ pin: 'd' })).high, (await pins.getGPIO({ pin: 'e' })).high]).toEqual([
    0.5,
    false,
    false,
  ]);
  expect((await pins.pWMFrequency({ pin: 'p' })).frequencyHz).toBe(200n);
  expect(await motor.isPowered({})).toMatchObject({ isOn: true, powerPct: -0.5 });
  await motor.setPower({ powerPct: 3 });
  expect([await duty('p'), (await pins.getGPIO({ pin: 'd' })).high]).toEqual([0.8, true]);
  await resource.close();
  expect([await duty('p'), (await pins.getGPIO({ pin: 'e' })).high]).toEqual([0, true]);
});

test('a motor with a and b: the pulses are on the pin of the direction, or on pwm', async () => {
  const plain = await onBoard(motorModel, { pins: { a: 'a', b: 'b' }, dir_flip: true });
  await clientOf(MotorService, plain.resource).setPower({ powerPct: 0.25 });
  expect([await plain.duty('a'), await plain.duty('b')]).toEqual([0, 0.25]);
  const pulsed = await onBoard(motorModel, { pins: { a: 'a', b: 'b', pwm: 'p' } });
  const motor = clientOf(MotorService, pulsed.resource);
  await motor.setPower({ powerPct: 0.25 });
  expect([await pulsed.duty('a'), await pulsed.duty('b'), await pulsed.duty('p')]).toEqual([1, 0, 0.25]);
  await motor.stop({});
  expect([await pulsed.duty('a'), await pulsed.duty('b'), await pulsed.duty('p')]).toEqual([0, 0, 0]);
});

test('without an encoder GoFor runs for a time computed from max_rpm; a stop ends it with ABORTED', async () => {
  const { resource, duty } = await onBoard(motorModel, { pins: { pwm: 'p', dir: 'd' }, max_rpm: 6_000 });
  const motor = clientOf(MotorService, resource);
  const begun = systemClock.monotonic();
  const running = motor.goFor({ rpm: 3_000, revolutions: 5 });
  await until('power', async () => (await duty('p')) === 0.5);
  await running;
  // 5 revolutions at 50 a second.
  expect(systemClock.monotonic() - begun).toBeGreaterThanOrEqual(99);
  expect(await duty('p')).toBe(0);
  const stopped = expect(motor.goFor({ rpm: 1, revolutions: 100 })).rejects.toThrow('the motion was stopped');
  await until('power', async () => (await duty('p')) > 0);
  await motor.stop({});
  await stopped;
  expect(await duty('p')).toBe(0);
  await expect(motor.goTo({ rpm: 1, positionRevolutions: 1 })).rejects.toThrow('set encoder and ticks_per_rotation');
});

test('when the caller of a motion disconnects, the motor stops', async () => {
  const { resource, duty } = await onBoard(motorModel, { pins: { pwm: 'p', dir: 'd' }, max_rpm: 100 });
  const caller = new AbortController();
  const motion = clientOf(MotorService, resource, caller.signal).goFor({ rpm: 50, revolutions: 1_000 });
  await until('power', async () => (await duty('p')) === 0.5);
  caller.abort(new Error('gone'));
  await expect(motion).rejects.toThrow('gone');
  expect(await duty('p')).toBe(0);
});

test('with an encoder GoTo and GoFor move to a position, and it is reported', async () => {
  const encoder = await buildModel(createFakeEncoder(systemClock), { ticks_per_sec: 0 });
  const attributes = { pins: { pwm: 'p', dir: 'd' }, max_rpm: 100, encoder: 'e', ticks_per_rotation: 100 };
  const { resource, pins, duty } = await onBoard(motorModel, attributes, { 'core:component:encoder/e': encoder });
  const motor = clientOf(MotorService, resource);
  const turnEncoder = clientOf(EncoderService, encoder);
  const motion = motor.goTo({ rpm: -50, positionRevolutions: 0.5 });
  await until('power', async () => (await duty('p')) === 0.5);
  expect((await pins.getGPIO({ pin: 'd' })).high).toBe(true);
  await turnEncoder.doCommand({ command: { set_ticks_per_sec: 1_000 } });
  await motion;
  await turnEncoder.doCommand({ command: { set_ticks_per_sec: 0 } });
  expect(await duty('p')).toBe(0);
  expect((await motor.getPosition({})).position).toBeGreaterThanOrEqual(0.5);
  await motor.resetZeroPosition({ offset: 0 });
  expect((await motor.getPosition({})).position).toBeCloseTo(0, 6);
  expect(await motor.getProperties({})).toMatchObject({ positionReporting: true });
});

test.each<[JsonObject, string]>([
  [{ pins: { a: '1' } }, 'attributes.pins: expected {pwm, dir}, {a, b, pwm} or {a, b}'],
  [{ pins: { a: '1', b: '2' }, encoder: 'e' }, 'expected both of encoder and ticks_per_rotation'],
  [{ pins: { a: '1', b: '2' }, board: 'x' }, 'attributes.board: expected the name of a board, found "x"'],
])('a motor with wrong attributes %j is refused', async (attributes, message) => {
  await expect(onBoard(motorModel, attributes)).rejects.toThrow(message);
});

test('models list the resources that they need', async () => {
  const attributes = { board: 'pi', encoder: 'e' };
  const config = { name: 'm', api: '', model: '', attributes, depends_on: [], service_configs: [] };
  const { signal } = new AbortController();
  expect(await motorModel.dependencies?.(config, signal)).toEqual({ required: ['pi', 'e'], optional: [] });
});

test('a servo converts its angle to the width of pulses; before the first move its angle is unknown', async () => {
  const { resource, pins, duty } = await onBoard(gpioServo, { pin: 's' });
  const servo = clientOf(ServoService, resource);
  await expect(servo.getPosition({})).rejects.toThrow('unknown until its first move');
  await servo.move({ angleDeg: 90 });
  expect(await duty('s')).toBeCloseTo(0.075, 9);
  expect((await pins.pWMFrequency({ pin: 's' })).frequencyHz).toBe(50n);
  expect(await servo.getPosition({})).toMatchObject({ positionDeg: 90 });
  await expect(servo.move({ angleDeg: 200 })).rejects.toThrow('angle_deg: expected 0 to 180, found 200');
  await resource.close();
  expect(await duty('s')).toBe(0);
  const started = await onBoard(gpioServo, { pin: 's', starting_position_deg: 180 });
  expect(await started.duty('s')).toBeCloseTo(0.125, 9);
  await expect(onBoard(gpioServo, { pin: 's', min_width_us: 2_600 })).rejects.toThrow(
    'attributes.max_width_us: expected more than min_width_us (2600)',
  );
});

test('a single encoder counts rising edges of its interrupt', async () => {
  const { resource, pins } = await onBoard(createSingleEncoder(systemClock), { pins: { i: 'a' }, dir_flip: true });
  const encoder = clientOf(EncoderService, resource);
  const ticks = async () => (await encoder.getPosition({})).value;
  await until('two ticks', async () => {
    await pins.setGPIO({ pin: '1', high: true });
    await pins.setGPIO({ pin: '1', high: false });
    return (await ticks()) <= -2;
  });
  await encoder.resetPosition({});
  expect(await ticks()).toBe(0);
  await expect(encoder.getPosition({ positionType: PositionType.ANGLE_DEGREES })).rejects.toThrow('ask for its ticks');
});

test('an incremental encoder counts both ways', async () => {
  const step = createQuadrature('a');
  const walk = (edges: string): number[] => edges.split(' ').map((edge) => step(edge[0] ?? '', edge[1] === '1'));
  // The level of b is unknown before its first edge.
  expect(walk('a1 b1 a0 b0 a1')).toEqual([0, 1, 1, 1, 1]);
  expect(walk('a0 b1 a1 b0 a0')).toEqual([-1, -1, -1, -1, -1]);
  const { resource, pins } = await onBoard(createIncrementalEncoder(systemClock), { pins: { a: 'a', b: 'b' } });
  const encoder = clientOf(EncoderService, resource);
  await until('it counts', async () => {
    for (const [pin, high] of [
      ['1', true],
      ['2', true],
      ['1', false],
      ['2', false],
    ] as const)
      await pins.setGPIO({ pin, high });
    return (await encoder.getPosition({})).value >= 4;
  });
});

test('an encoder whose interrupt does not exist is an error that says so', async () => {
  const { resource } = await onBoard(createSingleEncoder(systemClock), { pins: { i: 'x' } });
  const encoder = clientOf(EncoderService, resource);
  await until('the error', async () => {
    try {
      await encoder.getPosition({});
      return false;
    } catch (caught) {
      return caught instanceof Error && caught.message.includes('this board has no digital interrupt "x"');
    }
  });
});
