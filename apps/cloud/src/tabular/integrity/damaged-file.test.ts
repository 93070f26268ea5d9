import { expect, test } from 'vitest';
import { damagedFile } from './damaged-file.ts';

const file = { file: '2026-03-01-a.parquet', captureDay: '2026-03-01' };

test('D33 the error of a damaged file names the times to exclude, or the day if some rows have no time', () => {
  const us = Date.UTC(2026, 2, 1) * 1_000;
  const byTime = damagedFile({ ...file, timeReceived: { min: us + 1_500, max: us + 2_999 } }, 'it is missing');
  expect(byTime).toMatchObject({ code: 'data_loss' });
  expect(byTime.message).toMatch(
    /^readings whose time_received is from 2026-03-01T00:00:00.001Z to 2026-03-01T00:00:00.002Z cannot be answered: the sealed file 2026-03-01-a.parquet is damaged \(it is missing\). Meanwhile, queries work whose time_received is at most 2026-03-01T00:00:00.000Z, or at least 2026-03-01T00:00:00.003Z, and/,
  );
  for (const timeReceived of [undefined, { min: null, max: us }])
    expect(damagedFile({ ...file, timeReceived }, 'x').message).toMatch(
      /^readings whose capture_day is 2026-03-01 cannot .* whose capture_day is at most 2026-02-28, or at least 2026-03-02, and/,
    );
});
