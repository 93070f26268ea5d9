import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { createMemoryGuard } from './memory-guard.ts';

const mebibyte = 1 << 20;

test('D34 a query is ended once the process has more memory than it may use, unless earlier queries took it', async () => {
  const clock = new FakeClock();
  let used = 190 * mebibyte;
  const guard = createMemoryGuard(200 * mebibyte, () => used, clock);
  const ended: string[] = [];
  {
    using _ = guard.watch(({ code }) => ended.push(code));
    used = 230 * mebibyte;
    await clock.advance(100);
    expect(ended, 'it took 40 MiB').toEqual([]);
    used = 240 * mebibyte;
    await clock.advance(10);
    expect(ended).toEqual(['resource_exhausted']);
  }
  await clock.advance(100);
  expect(ended, 'it is over').toHaveLength(1);
  using _next = guard.watch(({ code }) => ended.push(code));
  await clock.advance(100);
  expect(ended, 'the next one took nothing').toHaveLength(1);
});

test('D34 while the system does not tell how much memory is used, as without a descriptor left, nothing ends', async () => {
  const clock = new FakeClock();
  let used: number | undefined;
  const measure = (): number => {
    if (used === undefined) throw new Error('EMFILE');
    return used;
  };
  const ended: string[] = [];
  using _ = createMemoryGuard(200 * mebibyte, measure, clock).watch(({ code }) => ended.push(code));
  await clock.advance(100);
  used = 150 * mebibyte;
  await clock.advance(100);
  used = undefined;
  await clock.advance(100);
  used = 240 * mebibyte;
  await clock.advance(100);
  expect(new Set(ended)).toEqual(new Set(['resource_exhausted']));
});
