/**
 * JSON Schema of the `event` and the notifications of a trigger, for completion in editors. It refuses nothing that the cloud accepts: the
 * cloud's trigger feature reads them, and reports faults with their path.
 */

const text = (description: string): object => ({ type: 'string', description });
const seconds = (description: string, minimum: object = { exclusiveMinimum: 0 }): object => ({
  type: 'number',
  description,
  ...minimum,
});

const operators = ['lt', 'lte', 'gt', 'gte', 'eq', 'neq', 'regex'];
const dataTypes = { type: 'array', items: { enum: ['binary', 'tabular', 'file', 'unspecified'] } };

const evals = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      operator: { enum: operators },
      value: {
        type: 'object',
        description: 'one field and what it is compared with, such as {"readings.temperature": 90}',
      },
    },
    required: ['operator', 'value'],
  },
};
const group = (description: string): object => ({ type: 'array', items: { type: 'object' }, description });
const conditions = (description: string): object => ({
  type: 'object',
  description,
  properties: {
    evals,
    all: group('all of them must hold: evals, or objects with evals, all or any'),
    any: group('one of them must hold: evals, or objects with evals, all or any'),
  },
});

const conditional = {
  type: 'object',
  description: 'for conditional_data_ingested',
  properties: {
    data_capture_method: text('such as sensor:<name>:Readings'),
    conditions: conditions('what a reading must meet; without it, each upload fires'),
    clear: conditions('what ends the firing (hysteresis)'),
    for_secs: seconds('fires once each reading for this long has met the conditions'),
    times_within: {
      type: 'object',
      description: 'fires once this many readings within this time have met the conditions',
      properties: { times: { type: 'integer', minimum: 2 }, secs: seconds('length of the time') },
    },
    absent_for_secs: seconds('fires when nothing arrives for this long'),
  },
  required: ['data_capture_method'],
};

export const triggerEventSchema: object = {
  properties: {
    type: {
      enum: [
        ...['part_online', 'part_offline', 'part_data_ingested', 'conditional_data_ingested'],
        ...['conditional_logs_ingested', 'capture_stopped', 'data_discarded', 'sync_behind', 'config_not_applied'],
        'credential_expiring',
      ],
    },
    data_ingested: { type: 'object', description: 'for part_data_ingested', properties: { data_types: dataTypes } },
    data_types: dataTypes,
    conditional,
    log_levels: {
      type: 'array',
      items: { enum: ['error', 'warn', 'info'] },
      description: 'for conditional_logs_ingested',
    },
    check_interval_secs: seconds('interval of the checks of the log; default 3600', { minimum: 10 }),
    text: text('RE2 pattern that part of the message must match'),
    after_secs: seconds(
      'for capture_stopped, sync_behind and config_not_applied: how long the problem lasts before it fires',
    ),
    clear_after_secs: seconds('for data_discarded: how long nothing was discarded before it recovers'),
    within_days: { type: 'number', exclusiveMinimum: 0, description: 'for credential_expiring' },
  },
  required: ['type'],
};

export const triggerNotificationSchema: object = {
  properties: {
    type: { enum: ['webhook', 'email', 'push'] },
    value: text('URL; for email and push, an address or all_machine_owners'),
    seconds_between_notifications: seconds('at least this long between two of them', { minimum: 0 }),
    application: text('for push: the id of the mobile app'),
    auth: {
      type: 'object',
      description: 'for webhook',
      properties: {
        basic: { type: 'object', properties: { username: { type: 'string' }, password: { type: 'string' } } },
      },
    },
  },
  required: ['type', 'value'],
};
