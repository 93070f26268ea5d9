import { expect, test } from 'vitest';
import { progressText } from './transfer-progress.ts';

test('progress shows rows, share, rate and remaining time, but no estimate before the first row', () => {
  const done = { before: 1_000, rows: 2_000, bytes: 1_234_567, elapsedMs: 4_000, total: 10_000 };
  expect(progressText(done)).toBe('3,000 of 10,000 (30 %) rows · 1.2 MB · 500 rows/s · 14.0 s left');
  expect(progressText({ ...done, total: 200_000 })).toContain('7 min left');
  // More rows arrived than were counted at the start.
  expect(progressText({ ...done, total: 3_000 })).toBe('3,000 rows · 1.2 MB · 500 rows/s');
  expect(progressText({ before: 0, rows: 0, bytes: 0, elapsedMs: 0, total: 5 })).toBe(
    '0 of 5 (0 %) rows · 0 B · 0 rows/s',
  );
});
