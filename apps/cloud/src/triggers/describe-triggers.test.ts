import { expect, test } from 'vitest';
import type { PartTriggers } from '../machines/configuration/triggers-of.ts';
import { describeTriggers } from './describe-triggers.ts';

const webhook = { type: 'webhook', value: 'https://example.com/hook', seconds_between_notifications: 60 };
const hot = (method: string, more: object = {}) => ({
  name: method,
  event: {
    type: 'conditional_data_ingested',
    conditional: { data_capture_method: method, conditions: { evals: [{ operator: 'gt', value: { t: 9 } }] } },
  },
  notifications: [webhook],
  ...more,
});
const config = (triggers: readonly unknown[]): PartTriggers => ({
  triggers,
  components: [{ name: 'oven', api: 'core:component:sensor' }],
  revision: '1',
});

test('a trigger is working, disabled, or broken with the reason and its path, regardless of the others', () => {
  const described = describeTriggers(
    config([
      hot('sensor:oven:Readings'),
      hot('sensor:gone:Readings'),
      hot('sensor:oven:Reddings'),
      hot('sensor:also-gone:Readings', { disabled: true }),
      { name: 'unknown', event: { type: 'part_exploded' }, notifications: [webhook] },
      17,
      { ...hot('sensor:oven:Readings'), notes: 3 },
      { name: 'status', event: { type: 'part_online' }, notifications: webhook },
    ]),
  );
  expect(described.map(({ name, state, problems }) => [name, state, ...problems.map(({ path }) => path)])).toEqual([
    ['sensor:oven:Readings', 'working'],
    ['sensor:gone:Readings', 'broken', 'triggers[1].event.conditional.data_capture_method'],
    ['sensor:oven:Reddings', 'broken', 'triggers[2].event.conditional.data_capture_method'],
    ['sensor:also-gone:Readings', 'disabled', 'triggers[3].event.conditional.data_capture_method'],
    ['unknown', 'broken', 'triggers[4].event.type'],
    ['', 'broken', 'triggers[5]'],
    ['sensor:oven:Readings', 'broken', 'triggers[6].name', 'triggers[6].notes'],
    ['status', 'working', 'triggers[7].notifications.seconds_between_notifications'],
  ]);
  expect(described[1]?.problems).toEqual([
    {
      level: 'error',
      path: 'triggers[1].event.conditional.data_capture_method',
      message: 'expected the name of a configured component or service, found "gone": nothing captures its data',
    },
  ]);
});

test('the event is as configured; notifications are parsed, even those of a broken trigger', () => {
  const [broken, status, nothing] = describeTriggers(
    config([
      {
        name: 'a',
        event: { type: 'part_exploded', at: 'noon' },
        notifications: [webhook, { type: 'fax', value: '1' }],
      },
      { name: 'b', event: { type: 'part_online' }, notifications: [webhook] },
      { name: 'c' },
    ]),
  );
  expect(broken).toMatchObject({ eventType: 'part_exploded', event: { type: 'part_exploded', at: 'noon' }, index: 0 });
  expect(broken?.notifications).toEqual([{ type: 'webhook', value: webhook.value, intervalMs: 60_000 }]);
  // The interval is ignored for this type.
  expect(status?.notifications).toEqual([{ type: 'webhook', value: webhook.value, intervalMs: 0 }]);
  expect(nothing).toMatchObject({ name: 'c', state: 'broken', eventType: '', event: undefined, notifications: [] });
});

test('problems found elsewhere break the trigger that they concern', () => {
  const path = 'triggers[0].notifications[0].application';
  const known = [{ level: 'error', path, message: 'no credentials' }] as const;
  const one = { name: 'p', event: { type: 'part_online' } };
  const push = { type: 'push', value: 'ada@example.com', application: 'com.example' };
  const [broken, other] = describeTriggers(
    config([
      { ...one, notifications: [push] },
      { ...one, name: 'q', notifications: [webhook] },
    ]),
    known,
  );
  expect(broken).toMatchObject({ state: 'broken', problems: known });
  expect(other?.state).toBe('working');
});
