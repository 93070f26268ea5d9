import { expect, test } from 'vitest';
import { retentionRows } from './retention.ts';

test('D24 each resource shows the shorter of its own and the part’s days, its limits and its hot store', async () => {
  const sensor = (name: string, attributes: object) => ({
    name,
    api: 'rdk:component:sensor',
    model: 'rdk:builtin:fake',
    service_configs: [{ type: 'data_manager', attributes }],
  });
  const method = (extra: object) => ({ method: 'Readings', capture_frequency_hz: 1, ...extra });
  const rows = await retentionRows({
    data_retention_policy: { days: 30 },
    components: [
      sensor('short', { retention_policy: { days: 7, tabular_limit_gb: 2 } }),
      sensor('long', { retention_policy: { days: 90, binary_limit_gb: 5 } }),
      sensor('none', { capture_methods: [method({ recent_data_store: { stored_hours: 24 } })] }),
    ] as never,
  });
  const common = { type: 'core:component:sensor', part_days: 30 };
  expect(rows).toMatchObject([
    { ...common, resource: 'short', effective_days: 7, own_days: 7, tabular_limit_gb: 2, binary_limit_gb: null },
    { ...common, resource: 'long', effective_days: 30, own_days: 90, binary_limit_gb: 5, recent_hours: null },
    { ...common, resource: 'none', effective_days: 30, own_days: null, recent_hours: 24 },
  ]);
});
