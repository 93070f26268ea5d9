import { silentLog } from '@platform/base';
import { type Document, isReadable } from '@platform/resources';
import { expect, test } from 'vitest';
import { hostTelemetry } from './host-telemetry.ts';

test('host telemetry reads this computer: percentages in range, totals above zero, keys without dots', async () => {
  const config = {
    name: 'host',
    api: hostTelemetry.api,
    model: hostTelemetry.model,
    attributes: {},
    depends_on: [],
    service_configs: [],
  };
  const context = { dependencies: new Map(), associated: [], log: silentLog };
  const resource = await hostTelemetry.build(config, context);
  if (!isReadable(resource)) throw new Error('expected a sensor');
  const readings: Document = await resource.readings({});
  for (const key of ['cpu_percent', 'memory_used_percent']) {
    expect(readings[key]).toBeGreaterThanOrEqual(0);
    expect(readings[key]).toBeLessThanOrEqual(100);
  }
  for (const key of ['memory_total_bytes', 'uptime_seconds']) expect(readings[key]).toBeGreaterThan(0);
  expect((readings['cpu_percent_per_core'] as number[]).length).toBeGreaterThan(0);
  expect(readings['disks']).toMatchObject({ root: { total_bytes: expect.any(Number) } });
  const keys = JSON.stringify(readings).matchAll(/"([^"]+)":/g);
  for (const [, key] of keys) expect(key).toMatch(/^[^./$]+$/);
  await expect(hostTelemetry.build({ ...config, attributes: { volumes: 5 } }, context)).rejects.toThrow(
    /attributes.volumes/,
  );
});
