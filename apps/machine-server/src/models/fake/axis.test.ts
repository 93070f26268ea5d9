import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { Axis } from './axis.ts';

const never = new AbortController().signal;

test('moves at its speed on the clock, arrives exactly, and stops at its current position', async () => {
  const clock = new FakeClock();
  const axis = new Axis(clock, 10);
  const arriving = axis.moveTo(20, 5, never);
  await clock.advance(1_000);
  expect([axis.position, axis.isMoving]).toEqual([15, true]);
  await clock.advance(1_000);
  await arriving;
  expect([axis.position, axis.isMoving]).toEqual([20, false]);
  axis.run(-2);
  await clock.advance(500);
  axis.stop();
  await clock.advance(5_000);
  expect([axis.position, axis.isMoving]).toEqual([19, false]);
});

test('a motion ends with an error when it is stopped, replaced, or its caller disconnects', async () => {
  const clock = new FakeClock();
  const axis = new Axis(clock);
  const stopped = expect(axis.moveTo(10, 1, never)).rejects.toMatchObject({ code: 'aborted' });
  axis.stop();
  await stopped;
  const replaced = expect(axis.moveTo(10, 1, never)).rejects.toMatchObject({ code: 'aborted' });
  const caller = new AbortController();
  const left = expect(axis.moveTo(-10, 1, caller.signal)).rejects.toThrow('gone');
  await replaced;
  await clock.advance(2_000);
  caller.abort(new Error('gone'));
  await left;
  expect([axis.position, axis.isMoving]).toEqual([-2, false]);
  axis.calibrate(100);
  await axis.moveTo(1, Number.POSITIVE_INFINITY, never);
  expect(axis.position).toBe(1);
});
