import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { RateLimit } from './rate-limit.ts';

test('sync_max_bytes_per_second limits all uploads together, and 0 limits nothing', async () => {
  const clock = new FakeClock();
  const rate = new RateLimit(clock);
  const { signal } = new AbortController();
  await rate.take(1e9, signal);
  rate.configure(1_000);
  const done: number[] = [];
  const taking = [500, 1_000, 250].map((bytes) => rate.take(bytes, signal).then(() => done.push(bytes)));
  await clock.advance(499);
  expect(done).toEqual([500]);
  await clock.advance(1);
  expect(done).toEqual([500, 1_000]);
  await clock.advance(1_000);
  await Promise.all(taking);
  expect(done).toEqual([500, 1_000, 250]);
});
