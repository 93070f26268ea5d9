/** The initial configuration of the first machine: telemetry of this computer once a second, and a trigger that demonstrates webhooks. */

/** @param inboxUrl target of the demo's webhook: the built-in test inbox. */
export function demoConfiguration(inboxUrl: string): Record<string, unknown> {
  return {
    components: [
      {
        name: 'host',
        api: 'core:component:sensor',
        model: 'core:builtin:host-telemetry',
        attributes: {},
        service_configs: [
          {
            type: 'data_manager',
            attributes: { capture_methods: [{ method: 'Readings', capture_frequency_hz: 1 }] },
          },
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
    triggers: [
      {
        name: 'computer-is-up',
        event: {
          type: 'conditional_data_ingested',
          conditional: {
            data_capture_method: 'sensor:host:Readings',
            conditions: { evals: [{ operator: 'gt', value: { uptime_seconds: 0 } }] },
          },
        },
        notifications: [{ type: 'webhook', value: inboxUrl, seconds_between_notifications: 10 }],
        notes: 'Fires for every reading of this computer, at most every 10 s, and notifies the built-in test inbox.',
      },
    ],
  };
}
