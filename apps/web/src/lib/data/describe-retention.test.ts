import { expect, test } from 'vitest';
import { retentionOf, retentionWords } from './describe-retention.ts';

const oven = { type: 'core:component:sensor', component: 'oven' };
const nowMs = Date.parse('2026-11-20T12:00:00Z');
const capture = (policy: object) => ({
  components: [
    {
      ...{ name: 'oven', api: 'rdk:component:sensor' },
      service_configs: [{ type: 'data_manager', attributes: { retention_policy: policy } }],
    },
    { name: 'oven', api: 'rdk:component:camera', service_configs: [] },
  ],
});

test('the shorter retention of part and resource applies, and the next day to be deleted is named', () => {
  const configuration = { ...capture({ days: 30, tabular_limit_gb: 5 }), data_retention_policy: { days: 90 } };
  const retention = retentionOf(configuration, oven);
  expect(retention).toEqual({ days: 30, limitGb: 5, hasFragments: false });
  expect(retentionWords(retention, 'press-7', '2026-11-04', nowMs)).toBe(
    'Deleted after 30 days; next: the day 2026-11-04 of press-7, on 2026-12-04 (UTC). At most 5 GB are kept.',
  );
  expect(retentionWords({ ...retention, limitGb: undefined }, 'press-7', '2026-10-19', nowMs)).toBe(
    'Deleted after 30 days; next: 3 days of press-7, now.',
  );
});

test('without a rule, readings are kept; a rule must be a positive whole number; fragments are mentioned', () => {
  const retention = retentionOf({ ...capture({ days: -1 }), fragments: ['f'] }, oven);
  expect(retentionWords(retention, 'press-7', '2026-11-04', nowMs)).toBe(
    'Kept until someone deletes them. A fragment of the machine may override this.',
  );
});
