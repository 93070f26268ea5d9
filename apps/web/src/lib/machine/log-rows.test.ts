import { create } from '@bufbuild/protobuf';
import { LogEntrySchema } from '@platform/proto/platform/common/v1/common';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineOf } from './log-lines.ts';
import { linePx, linesOfText, paddingPx, rowsInView, topsOf } from './log-rows.ts';

test('a row is as high as its text', () => {
  expect(
    ['', 'a'.repeat(10), 'a'.repeat(11), 'a\nb\n', `${'a'.repeat(11)}\nb`].map((text) => linesOfText(text, 10)),
  ).toEqual([...[1, 1, 2, 3, 3]]);
  const lines = [5, 25].map((length) => lineOf(create(LogEntrySchema, { message: 'x'.repeat(length) })));
  expect([...topsOf(lines, 10)]).toEqual([0, linePx + paddingPx, 4 * linePx + 2 * paddingPx]);
  expect([...topsOf(lines, 10, 2)]).toEqual([0, 2 * linePx + paddingPx, 5 * linePx + 2 * paddingPx]);
});

test('all rows in view are shown, and the space before and after them is that of the others', () => {
  const heights = fc.array(fc.integer({ min: 24, max: 500 }), { maxLength: 300 });
  fc.assert(
    fc.property(heights, fc.nat(60_000), fc.nat(1_000), (given, scrollPx, viewPx) => {
      const tops = new Float64Array(given.length + 1);
      for (const [at, height] of given.entries()) tops[at + 1] = (tops[at] ?? 0) + height;
      const { first, last, beforePx, afterPx } = rowsInView(tops, scrollPx, viewPx);
      for (const [at, height] of given.entries()) {
        const top = tops[at] ?? 0;
        if (top < scrollPx + viewPx && top + height > scrollPx) expect(at >= first && at < last).toBe(true);
      }
      const shownPx = given.slice(first, last).reduce((sum, height) => sum + height, 0);
      expect(beforePx + shownPx + afterPx).toBe(tops[given.length]);
    }),
  );
});
