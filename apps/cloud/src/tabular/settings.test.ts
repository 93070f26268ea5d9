import { expect, test } from 'vitest';
import { defaultTabularSettings, settingsWithin } from './settings.ts';

const mebibyte = 1 << 20;

test('the limits of queries shrink with the memory that the cloud may use, from 2 GiB down', () => {
  expect(settingsWithin(undefined)).toEqual({});
  expect(settingsWithin(2048 * mebibyte)).toEqual({});
  for (const limit of [1536, 1024, 512]) {
    const { memoryBytes = 0, executorMemoryBytes = 0, concurrentQueries = 0 } = settingsWithin(limit * mebibyte);
    expect(memoryBytes + concurrentQueries * executorMemoryBytes, `${limit} MiB`).toBeLessThan(
      (limit - 256) * mebibyte * 1.5,
    );
    expect(memoryBytes).toBeLessThan(defaultTabularSettings.memoryBytes);
  }
  expect(settingsWithin(512 * mebibyte)).toMatchObject({
    concurrentQueries: 1,
    takesTurns: true,
    threads: 1,
    maxResultBytes: 16 * mebibyte,
  });
  expect(settingsWithin(64 * mebibyte), 'never nothing').toMatchObject({
    memoryBytes: 64 * mebibyte,
    concurrentQueries: 1,
  });
});

test('D34 files and row groups shrink with the memory that the cloud may use, so that they can be sorted', () => {
  const { fileBytes = 0, rowGroupBytes = 0, sealBytes = 0, takesTurns } = settingsWithin(1536 * mebibyte);
  expect(fileBytes / defaultTabularSettings.fileBytes).toBeCloseTo(1280 / 1792);
  expect(rowGroupBytes / defaultTabularSettings.rowGroupBytes).toBeCloseTo(1280 / 1792);
  expect(sealBytes / defaultTabularSettings.sealBytes).toBeCloseTo(1280 / 1792);
  expect(takesTurns, 'queries and writing fit side by side').toBe(false);
});
