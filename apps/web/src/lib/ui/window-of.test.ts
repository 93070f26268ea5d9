import { expect, test } from 'vitest';
import { windowOf } from './window-of.ts';

const rowPx = 24;
const viewPx = 500;

test.each([0, 1, 20, 21, 1_000, 100_000])('all of %i rows can be scrolled to, and few are shown at once', (count) => {
  const end = Math.max(0, count * rowPx - viewPx);
  for (let scrollPx = 0; scrollPx <= end; scrollPx += Math.max(7, Math.floor(end / 500))) {
    const { first, last, beforePx, afterPx } = windowOf({ count, rowPx, scrollPx, viewPx });
    expect(beforePx + (last - first) * rowPx + afterPx).toBe(count * rowPx);
    expect(beforePx).toBeLessThanOrEqual(scrollPx);
    expect(last * rowPx).toBeGreaterThanOrEqual(Math.min(count * rowPx, scrollPx + viewPx));
    expect(last - first).toBeLessThanOrEqual(62);
  }
});

test('a list that becomes shorter than its scroll position shows its end', () => {
  const { first, last } = windowOf({ count: 30, rowPx, scrollPx: 100_000, viewPx });
  expect(first).toBeLessThan(10);
  expect(last).toBe(30);
});
