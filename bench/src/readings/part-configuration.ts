/** Configurations of the part that benches use; `http://TEST-INBOX` stands for the cloud's address. */

export const dataManager = (syncIntervalMins: number, attributes: object = {}): object => ({
  name: 'data_manager',
  api: 'core:service:data_manager',
  model: 'core:builtin:builtin',
  attributes: { sync_interval_mins: syncIntervalMins, ...attributes },
});

const fakeSensor = (name: string, frequencyHz: number): object => ({
  ...{ name, api: 'core:component:sensor', model: 'core:builtin:fake' },
  attributes: {},
  service_configs: [capturing('Readings', frequencyHz)],
});

/** The `service_configs` entry that captures a method. */
export const capturing = (method: string, frequencyHz: number): object => ({
  type: 'data_manager',
  attributes: { capture_methods: [{ method, capture_frequency_hz: frequencyHz }] },
});

/**
 * A conditional trigger on the sensor `bench`, without throttling. `gt`: no reading ever meets it, so every reading is evaluated and
 * nothing is sent; `gte`: each upload meets it.
 */
export function benchConfiguration(operator: 'gt' | 'gte'): object {
  const value = operator === 'gt' ? { temperature: 1_000 } : { temperature: -1_000 };
  const conditional = {
    data_capture_method: 'sensor:bench:Readings',
    conditions: { evals: [{ operator, value }] },
  };
  return {
    components: [fakeSensor('bench', 1)],
    services: [dataManager(1)],
    triggers: [
      {
        name: 'bench',
        event: { type: 'conditional_data_ingested', conditional },
        notifications: [
          { type: 'webhook', value: 'http://TEST-INBOX/test-inbox/webhooks/bench', seconds_between_notifications: 0 },
        ],
      },
    ],
  };
}

/** Sensors that together produce `readingsPerSecond`, synced every six seconds. */
export function captureConfiguration(sensors: number, readingsPerSecond: number): object {
  const names = Array.from({ length: sensors }, (_, index) => `bench-${index}`);
  return {
    components: names.map((name) => fakeSensor(name, readingsPerSecond / sensors)),
    services: [dataManager(0.1)],
  };
}
