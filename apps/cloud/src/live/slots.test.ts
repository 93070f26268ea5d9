import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { Slots } from './slots.ts';

const forever = new AbortController().signal;

test('a source waits until its update is taken, so that a slow reader gets the newest one and nothing piles up', async () => {
  const slots = new Slots<string>(new FakeClock());
  let state = 0;
  const source = async (): Promise<void> => {
    while (state < 100) await slots.put(1, `state ${state}`);
  };
  const done = source();
  state = 7;
  expect(await slots.take(1_000, forever)).toEqual(['state 0']);
  expect(await slots.take(1_000, forever)).toEqual(['state 7']);
  state = 100;
  expect(await slots.take(1_000, forever)).toEqual(['state 7']);
  await done;
});

test('a dropped update is not taken, and its source continues', async () => {
  const slots = new Slots<string>(new FakeClock());
  const put = slots.put(1, 'removed');
  slots.drop(1);
  await put;
  void slots.put(2, 'kept');
  expect(await slots.take(1_000, forever)).toEqual(['kept']);
});
