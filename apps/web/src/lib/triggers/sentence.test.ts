import type { JsonObject } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { emptySentence, sentenceOf, triggerOf } from './sentence.ts';

const hot: JsonObject = {
  name: 'hot',
  notes: 'why',
  event: {
    type: 'conditional_data_ingested',
    conditional: {
      data_capture_method: 'sensor:oven:Readings',
      conditions: { evals: [{ operator: 'gt', value: { heat: { upper: 180 } } }] },
      for_secs: 60,
    },
  },
  notifications: [
    { type: 'webhook', value: 'https://example.com', seconds_between_notifications: 600, auth: { username: 'u' } },
  ],
};

test('a trigger becomes a sentence and then the same trigger again, with keys that the form does not know', () => {
  const sentence = sentenceOf(hot);
  expect(sentence).toMatchObject({ method: 'sensor:oven:Readings', field: 'heat.upper', operator: 'gt', value: '180' });
  expect(triggerOf(sentence!, hot)).toEqual(hot);
});

test('another event drops the settings of the first, and the interval if each change notifies', () => {
  const offline = triggerOf({ ...sentenceOf(hot)!, event: 'part_offline' }, hot);
  expect(offline['event']).toEqual({ type: 'part_offline' });
  expect(offline['notifications']).toEqual([
    { type: 'webhook', value: 'https://example.com', auth: { username: 'u' } },
  ]);
});

test('a value gets the type that it looks like', () => {
  const storedAs = (value: string, operator = 'eq'): unknown =>
    JSON.stringify(triggerOf({ ...emptySentence, field: 'a', value, operator }, {})['event']).match(/"a":(.*?)\}/)?.[1];
  expect([storedAs('1.5'), storedAs('true'), storedAs('open'), storedAs('7', 'regex')]).toEqual([
    '1.5',
    'true',
    '"open"',
    '"7"',
  ]);
});

test.each<[string, JsonObject]>([
  ['an event of another type', { event: { type: 'sync_behind' } }],
  [
    'several conditions',
    { event: { type: 'conditional_data_ingested', conditional: { conditions: { evals: [{}, {}] } } } },
  ],
  [
    'an object as a value',
    {
      event: {
        type: 'conditional_data_ingested',
        conditional: { conditions: { evals: [{ operator: 'eq', value: { a: { x: 1, y: 2 } } }] } },
      },
    },
  ],
  [
    'a text that looks like a number',
    {
      event: {
        type: 'conditional_data_ingested',
        conditional: { conditions: { evals: [{ operator: 'eq', value: { a: '1' } }] } },
      },
    },
  ],
  ['several levels', { event: { type: 'conditional_logs_ingested', log_levels: ['error', 'warn'] } }],
])('%s can be edited only as JSON', (_, trigger) => {
  expect(sentenceOf(trigger)).toBeUndefined();
});

test('an edited trigger keeps its data types where they are, also below data_ingested', () => {
  const event = { type: 'part_data_ingested', data_ingested: { data_types: ['binary'] } };
  const before = { name: 'arrives', event, notifications: [] };
  expect(triggerOf({ ...emptySentence, event: 'part_data_ingested', name: 'came' }, before)['event']).toEqual(event);
});
