import { silentLog } from '@platform/base';
import { expect, test } from 'vitest';
import { isSensor, type Readings } from '../../../graph/resource.ts';
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
  const resource = await hostTelemetry.build(config, silentLog);
  if (!isSensor(resource)) throw new Error('expected a sensor');
  const readings: Readings = await resource.readings({});
  for (const key of ['cpu_percent', 'memory_used_percent']) {
    expect(readings[key]).toBeGreaterThanOrEqual(0);
    expect(readings[key]).toBeLessThanOrEqual(100);
  }
  for (const key of ['memory_total_bytes', 'uptime_seconds']) expect(readings[key]).toBeGreaterThan(0);
  expect((readings['cpu_percent_per_core'] as number[]).length).toBeGreaterThan(0);
  expect(readings['disks']).toMatchObject({ root: { total_bytes: expect.any(Number) } });
  const keys = JSON.stringify(readings).matchAll(/"([^"]+)":/g);
  for (const [, key] of keys) expect(key).toMatch(/^[^./$]+$/);
  await expect(hostTelemetry.build({ ...config, attributes: { volumes: 5 } }, silentLog)).rejects.toThrow(
    /attributes.volumes/,
  );
});
