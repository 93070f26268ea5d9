import type { JsonObject } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type EventName, events } from './events.ts';
import { emptySentence, type Sentence, sentenceOf, triggerOf } from './sentence.ts';
import { firstTimings } from './timing.ts';

const evalOf = (field: string, operator: string, value: string | number): JsonObject => ({
  operator,
  value: { [field]: value },
});
const data = (conditional: JsonObject): JsonObject => ({
  event: {
    type: 'conditional_data_ingested',
    conditional: { data_capture_method: 'sensor:oven:Readings', ...conditional },
  },
});
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
const conditionalOf = (sentence: Sentence, before: JsonObject): JsonObject =>
  (triggerOf(sentence, before)['event'] as JsonObject)['conditional'] as JsonObject;

test('a trigger becomes a sentence and then the same trigger again, with keys that the form does not know', () => {
  const sentence = sentenceOf(hot);
  expect(sentence).toMatchObject({
    method: 'sensor:oven:Readings',
    conditions: { join: 'all', items: [{ field: 'heat.upper', operator: 'gt', value: '180' }] },
    timing: { mode: 'for', secs: 60 },
  });
  expect(triggerOf(sentence!, hot)).toEqual(hot);
});

/** Triggers with every key of `event` that the form has, as people write them, and keys that it does not know. */
const anyTrigger = (() => {
  const unknown = fc.constantFrom({}, { later: { version: [1] } });
  const leaf = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constantFrom('open', 'an oven', ''),
  );
  const item = fc
    .tuple(
      fc.constantFrom('gt', 'gte', 'lt', 'lte', 'eq', 'neq', 'regex'),
      fc.oneof(
        leaf.map((value) => ({ 'readings.heat': value })),
        leaf.map((value) => ({ heat: { upper: value } })),
      ),
      unknown,
    )
    .map(([operator, value, more]) => ({ operator, value, ...more }));
  const items = fc.array(item, { maxLength: 4 });
  const conditions = fc
    .tuple(fc.constantFrom('evals', 'all', 'any'), items, unknown)
    .map(([key, list, more]) => ({ [key]: list, ...more }));
  const secs = fc.double({ min: 0.001, max: 1e6, noNaN: true });
  const clear = fc.option(conditions, { nil: undefined }).map((one) => one && { clear: one });
  const timing = fc.oneof(
    clear,
    fc.tuple(clear, secs).map(([one, value]) => ({ ...one, for_secs: value })),
    fc
      .tuple(clear, fc.nat(), secs, unknown)
      .map(([one, times, value, more]) => ({ ...one, times_within: { times, secs: value, ...more } })),
    secs.map((value) => ({ absent_for_secs: value })),
  );
  const conditional = fc
    .tuple(fc.constantFrom('conditions', 'condition'), fc.option(conditions, { nil: undefined }), timing, unknown)
    .map(([key, given, rest, more]) => ({
      type: 'conditional_data_ingested',
      conditional: { data_capture_method: 'sensor:oven:Readings', ...(given && { [key]: given }), ...rest, ...more },
    }));
  const texts = (...of: string[]) => fc.subarray(of);
  const logs = fc
    .tuple(texts('error', 'warn', 'info'), fc.constantFrom({}, { text: 'over(load|heat)', check_interval_secs: 60 }))
    .map(([log_levels, more]) => ({ type: 'conditional_logs_ingested', log_levels, ...more }));
  const ingested = texts('binary', 'tabular', 'file', 'unspecified').chain((data_types) =>
    fc.constantFrom<JsonObject>(
      { type: 'part_data_ingested', data_types },
      { type: 'part_data_ingested', data_ingested: { data_types } },
    ),
  );
  const others = fc
    .tuple(fc.constantFrom(...events), secs, fc.boolean())
    .filter(([{ event }]) => !event.endsWith('ingested'))
    .map(([one, value, isGiven]) => ({
      type: one.event,
      ...(isGiven && 'number' in one && { [one.number.key]: value }),
    }));
  const event = fc
    .tuple(fc.oneof(conditional, logs, ingested, others), unknown)
    .map(([one, more]) => ({ ...one, ...more }));
  const told = { type: 'email', value: 'all_machine_owners', seconds_between_notifications: 0, later: 1 };
  return fc
    .tuple(event, fc.constantFrom(told, [told], [{ ...told, type: 'webhook', auth: { basic: {} } }]), unknown)
    .map(
      ([one, notifications, more]): JsonObject =>
        JSON.parse(JSON.stringify({ name: 'any', event: one, notifications, disabled: true, ...more })),
    );
})();

test('every key of a trigger is in the form, and writing back what was read loses nothing', () => {
  fc.assert(
    fc.property(anyTrigger, (trigger) => {
      const sentence = sentenceOf(trigger);
      expect(sentence).toBeDefined();
      expect(triggerOf(sentence!, trigger)).toEqual(trigger);
      // A change elsewhere loses nothing either.
      expect(triggerOf({ ...sentence!, name: 'other' }, trigger)).toEqual({ ...trigger, name: 'other' });
      // What the form writes by itself reads the same again.
      expect(sentenceOf(triggerOf(sentence!, {}))).toEqual(sentence);
    }),
    { numRuns: 300 },
  );
});

test('another event drops the settings of the first, and the interval if each change notifies', () => {
  const offline = triggerOf({ ...sentenceOf(hot)!, event: 'part_offline' }, hot);
  expect(offline['event']).toEqual({ type: 'part_offline' });
  expect(offline['notifications']).toEqual([
    { type: 'webhook', value: 'https://example.com', auth: { username: 'u' } },
  ]);
});

test.each<[EventName, string]>([
  ['capture_stopped', 'after_secs'],
  ['sync_behind', 'after_secs'],
  ['data_discarded', 'clear_after_secs'],
  ['config_not_applied', 'after_secs'],
  ['credential_expiring', 'within_days'],
  ['conditional_logs_ingested', 'check_interval_secs'],
])('the number of %s is %s, and without it the default counts', (event, key) => {
  const given = triggerOf({ ...emptySentence, event, number: 20 }, {});
  expect(given['event']).toMatchObject({ type: event, [key]: 20 });
  const byDefault = triggerOf({ ...sentenceOf(given)!, number: undefined }, given);
  expect(byDefault['event']).not.toHaveProperty(key);
});

test('conditions, how long they last and what ends them become keys of the trigger', () => {
  const upper = { field: 'heat.upper', operator: 'gt', value: '180' };
  const door = { field: 'door', operator: 'eq', value: 'open' };
  const sentence: Sentence = {
    ...sentenceOf(hot)!,
    conditions: { join: 'any', items: [upper, door] },
    timing: { mode: 'times', times: 3, secs: 600 },
    clear: { join: 'all', items: [{ ...upper, operator: 'lt', value: '150' }] },
  };
  expect(conditionalOf(sentence, hot)).toEqual({
    data_capture_method: 'sensor:oven:Readings',
    conditions: {
      any: [
        { operator: 'gt', value: { heat: { upper: 180 } } },
        { operator: 'eq', value: { door: 'open' } },
      ],
    },
    times_within: { times: 3, secs: 600 },
    clear: { evals: [{ operator: 'lt', value: { heat: { upper: 150 } } }] },
  });
  const back = triggerOf({ ...sentence, timing: firstTimings.each, clear: emptySentence.clear }, hot);
  expect(conditionalOf(sentenceOf(back)!, back)).not.toHaveProperty('for_secs');
});

test('an edited condition keeps keys that the form does not know, and so do those beside a removed one', () => {
  const before = data({
    conditions: {
      evals: [
        { ...evalOf('a', 'gt', 1), later: 1 },
        { ...evalOf('b', 'gt', 2), later: 2 },
      ],
    },
  });
  const sentence = sentenceOf(before)!;
  const [first, second] = sentence.conditions.items;
  const edited = [{ ...first!, value: '7' }, second!];
  expect(conditionalOf({ ...sentence, conditions: { join: 'all', items: edited } }, before)['conditions']).toEqual({
    evals: [
      { ...evalOf('a', 'gt', 7), later: 1 },
      { ...evalOf('b', 'gt', 2), later: 2 },
    ],
  });
  expect(conditionalOf({ ...sentence, conditions: { join: 'all', items: [second!] } }, before)['conditions']).toEqual({
    evals: [{ ...evalOf('b', 'gt', 2), later: 2 }],
  });
});

test('a value gets the type that it looks like', () => {
  const storedAs = (value: string, operator = 'eq'): unknown => {
    const conditions = { join: 'all', items: [{ field: 'a', value, operator }] } as const;
    const written = triggerOf({ ...emptySentence, conditions }, {});
    // It stays in the form.
    expect(sentenceOf(written)?.conditions.items[0]?.value).toBe(value);
    return JSON.stringify(written['event']).match(/"a":(.*?)\}/)?.[1];
  };
  expect([storedAs('1.5'), storedAs('true'), storedAs('open'), storedAs('7', 'regex')]).toEqual([
    '1.5',
    'true',
    '"open"',
    '"7"',
  ]);
});

test.each<[string, JsonObject]>([
  ['an event that is not known', { event: { type: 'earthquake' } }],
  ['nested conditions', data({ conditions: { any: [evalOf('a', 'gt', 1), { all: [evalOf('b', 'gt', 2)] }] } })],
  ['all of some and any of others', data({ conditions: { all: [evalOf('a', 'gt', 1)], any: [evalOf('b', 'gt', 2)] } })],
  ['nested conditions that end the firing', data({ clear: { all: [{ any: [evalOf('b', 'gt', 2)] }] } })],
  ['keys that the cloud refuses together', data({ for_secs: 5, absent_for_secs: 5 })],
  ['a duration that is no number', data({ for_secs: '5' })],
  ['a number of an event that is none', { event: { type: 'sync_behind', after_secs: 'soon' } }],
  ['an object as a value', data({ conditions: { evals: [{ operator: 'eq', value: { a: { x: 1, y: 2 } } }] } })],
  ['a text that looks like a number', data({ conditions: { evals: [evalOf('a', 'eq', '1')] } })],
])('%s can be edited only as JSON', (_, trigger) => {
  expect(sentenceOf(trigger)).toBeUndefined();
});

test('an edited trigger keeps its data types where they are, also below data_ingested', () => {
  const event = { type: 'part_data_ingested', data_ingested: { data_types: ['binary'] } };
  const before = { name: 'arrives', event, notifications: [] };
  const sentence = sentenceOf(before)!;
  expect(triggerOf({ ...sentence, name: 'came' }, before)['event']).toEqual(event);
  expect(triggerOf({ ...sentence, dataTypes: ['file'] }, before)['event']).toEqual({
    ...event,
    data_ingested: { data_types: ['file'] },
  });
});
