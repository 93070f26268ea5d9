import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { endLateStop, Parts } from './parts.ts';

test('parts are disposed in reverse order, and a late stop names the part that it is waiting for', async () => {
  const order: string[] = [];
  const inner = new Parts();
  const hangs = Promise.withResolvers<void>();
  inner.use('tabular store', { [Symbol.asyncDispose]: () => hangs.promise });
  const parts = new Parts();
  parts.use('ingest log', { [Symbol.asyncDispose]: async () => void order.push('ingest log') });
  parts.use('data plane', inner);
  parts.use('certificate', { [Symbol.dispose]: () => void order.push('certificate') });
  const running = parts.move();
  await parts[Symbol.asyncDispose]();
  expect(order).toEqual([]);

  const clock = new FakeClock();
  const ended: string[] = [];
  endLateStop({ ms: 30_000, stopping: () => running.stopping, end: (text) => ended.push(text), clock });
  const stopped = running[Symbol.asyncDispose]();
  await expect.poll(() => running.stopping).toBe('data plane: tabular store');
  expect(order).toEqual(['certificate']);
  expect(ended).toEqual([]);
  await clock.advance(30_000);
  expect(ended).toEqual([
    expect.stringContaining('expected to stop within 30 s, still waiting for data plane: tabular store'),
  ]);

  hangs.resolve();
  await stopped;
  expect(order).toEqual(['certificate', 'ingest log']);
  expect(running.stopping).toBeUndefined();
});

test('a stop that ends in time is not forced', async () => {
  const clock = new FakeClock();
  const ended: string[] = [];
  const late = endLateStop({ ms: 30_000, stopping: () => undefined, end: (text) => ended.push(text), clock });
  late[Symbol.dispose]();
  await clock.advance(60_000);
  expect(ended).toEqual([]);
});
