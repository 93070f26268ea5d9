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
    threads: 1,
    maxResultBytes: 16 * mebibyte,
  });
  expect(settingsWithin(64 * mebibyte), 'never nothing').toMatchObject({
    memoryBytes: 64 * mebibyte,
    concurrentQueries: 1,
  });
});
