/** The configuration for a machine that has none: telemetry of its computer once a second, so that a first reading arrives. */
import type { JsonObject } from '@platform/sdk/cloud';

export const firstConfiguration: JsonObject = {
  components: [
    {
      name: 'host',
      api: 'core:component:sensor',
      model: 'core:builtin:host-telemetry',
      attributes: {},
      service_configs: [
        { type: 'data_manager', attributes: { capture_methods: [{ method: 'Readings', capture_frequency_hz: 1 }] } },
      ],
    },
  ],
  services: [
    {
      name: 'data_manager',
      api: 'core:service:data_manager',
      model: 'core:builtin:builtin',
      attributes: { sync_interval_mins: 1 / 60 },
    },
  ],
};

/** Whether a configuration captures anything, judging by its text. */
export function captures(document: unknown): boolean {
  return JSON.stringify(document ?? {}).includes('"capture_methods"');
}
