import { createLog } from '@platform/base';
import { expect, test } from 'vitest';
import { Collector } from './collector.ts';
import type { RollFile } from './roll-file.ts';

test('a failed reading is logged with its resource and reason, the same failure at most once a minute', () => {
  const told: string[] = [];
  let micros = 0;
  let reason = 'no answer from /dev/i2c-1';
  const collector = new Collector({
    name: 'core:component:sensor/temp Readings',
    read: () => {
      throw new Error(reason);
    },
    file: { ready: true } as RollFile,
    wallMicros: () => micros,
    log: createLog((level, _logger, message) => told.push(`${level} ${message}`)),
  });
  collector.tick(2);
  reason = 'the bus is gone';
  collector.tick(1);
  micros = 61_000_000;
  collector.tick(1);
  expect(told).toEqual([
    'warn core:component:sensor/temp Readings: a reading failed: no answer from /dev/i2c-1',
    'warn core:component:sensor/temp Readings: a reading failed: the bus is gone',
    'warn core:component:sensor/temp Readings: a reading failed: the bus is gone',
  ]);
  expect(collector.failed).toBe(4);
});
