import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../testing/start-test-server.ts';
import { openKernel } from '../kernel.ts';
import { openGpioChip } from './chip.ts';
import { createPulses } from './pulses.ts';
import { createSoftwarePwm } from './software-pwm.ts';

test('a file that is not a GPIO chip is an error with its path', async () => {
  const kernel = await openKernel();
  await expect(openGpioChip('/dev/null', kernel)).rejects.toThrow(
    '/dev/null: the system refused it (ENOTTY); expected a GPIO chip',
  );
  await expect(openGpioChip('/dev/gpiochip99', kernel)).rejects.toThrow('/dev/gpiochip99: it does not exist');
});

test('pulses: edges follow from period and duty, and a late one does not shift the next', () => {
  const edges: string[] = [];
  let now = 0;
  const pulses = createPulses((output, isHigh) => void edges.push(`${output} ${isHigh ? 'high' : 'low'} at ${now}`));
  pulses.set(7, { periodMs: 20, duty: 0.25 });
  const nexts = [0, 5, 23, 26, 40].map((at) => {
    now = at;
    return pulses.advance(at);
  });
  expect(nexts).toEqual([5, 20, 25, 40, 45]);
  expect(edges).toEqual(['7 high at 0', '7 low at 5', '7 high at 23', '7 low at 26', '7 high at 40']);
});

test('pulses of duty 0 and 1 are constant levels; a change keeps the period, and an end causes no edge', () => {
  const edges: string[] = [];
  const pulses = createPulses((output, isHigh) => void edges.push(`${output} ${isHigh}`));
  pulses.set(1, { periodMs: 10, duty: 1 });
  pulses.set(2, { periodMs: 10, duty: 0 });
  expect(pulses.advance(0)).toBe(Number.POSITIVE_INFINITY);
  expect(edges).toEqual(['1 true', '2 false']);
  pulses.set(1, { periodMs: 10, duty: 0.5 });
  expect(pulses.advance(12)).toBe(15);
  pulses.set(1, undefined);
  expect(pulses.advance(16)).toBe(Number.POSITIVE_INFINITY);
  expect(edges).toEqual(['1 true', '2 false']);
});

test('the thread of software PWM accepts lines, reports one that cannot be set, and ends', async () => {
  const kernel = await openKernel();
  const fd = await kernel.open('/dev/null');
  onTestFinished(() => kernel.close(fd));
  const errors: string[] = [];
  const pwm = createSoftwarePwm((line, error) => void errors.push(`${line === fd} ${error}`));
  onTestFinished(() => pwm[Symbol.asyncDispose]());
  await pwm.set(fd, { periodMs: 1, duty: 0.5 });
  await until('the error', () => errors.length > 0);
  expect(errors).toEqual(['true ENOTTY']);
  await pwm.set(fd, undefined);
  await pwm[Symbol.asyncDispose]();
});
