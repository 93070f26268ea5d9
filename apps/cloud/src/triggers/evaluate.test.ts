import { concatBytes } from '@platform/base';
import { DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { expect, test } from 'vitest';
import type { Message } from '../outbox/event.ts';
import { webhookRequest } from '../outbox/webhook/webhook-request.ts';
import { evaluate, evaluateInSteps, noState } from './evaluate.ts';
import { messagesOf } from './messages-of.ts';
import { parseTriggers } from './parsing/parse-triggers.ts';
import { readUpload } from './read-upload.ts';
import { logged, type UploadShape } from './testing/logged.ts';

const notifications = [{ type: 'webhook', value: 'https://example.com/hook' }];
const onData = (...types: string[]) => ({
  name: 'synced',
  event: { type: 'part_data_ingested', data_ingested: { data_types: types } },
  notifications,
});
const conditional = (conditional: object) => ({
  name: 'hot',
  event: { type: 'conditional_data_ingested', conditional },
  notifications,
});
const loadAbove = (limit: number) => ({
  data_capture_method: 'sensor:cpu:Readings',
  conditions: { evals: [{ operator: 'gt', value: { load: limit } }] },
});

const components = [{ name: 'cpu', api: 'core:component:sensor' }];

function decided(trigger: unknown, shape: UploadShape = {}): readonly Message[] {
  const { triggers, problems } = parseTriggers([trigger], components);
  expect(problems.filter(({ level }) => level === 'error')).toEqual([]);
  const upload = readUpload({ position: 7, partId: 'part', batch: logged(shape) });
  return triggers.flatMap((one) =>
    evaluate(one, noState, upload).decisions.flatMap((decision) => messagesOf('part', one, decision)),
  );
}

const bodyOf = (message: Message | undefined): Record<string, unknown> => {
  if (!message) throw new Error('expected a message');
  return JSON.parse(webhookRequest(message.event).body);
};

const threeReadings: UploadShape = {
  fileId: 'file-1',
  receivedAtMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  readings: [{ readings: { load: 1 } }, { readings: { load: 7 } }, { readings: { load: 9 } }],
};

test('D48 a reading of far more than an event holds is omitted without being decoded', () => {
  const load = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`key ${index}`, index]));
  const { triggers } = parseTriggers([onData('tabular')], components);
  const upload = readUpload({ position: 7, partId: 'part', batch: logged({ readings: [{ load }] }) });
  let decoded = 0;
  const readings = {
    ...upload.readings,
    document: (index: number) => {
      decoded += 1;
      return upload.readings.document(index);
    },
  };
  const [trigger] = triggers;
  if (trigger === undefined) throw new Error('expected a trigger');
  const [decision] = evaluate(trigger, noState, { ...upload, readings }).decisions;
  expect(decision?.event().data?.omittedBytes).toBeGreaterThan(262_144);
  expect(decoded).toBe(0);
});

test.each([
  ['conditions', {}],
  ['an alarm', { clear: loadAbove(100).conditions }],
])('D48 an upload of many readings is evaluated in steps, with %s', (_, more) => {
  const { triggers } = parseTriggers([conditional({ ...loadAbove(5), ...more })], components);
  const batch = logged({ readings: [...new Array(2_000).fill({ readings: { load: 1 } }), { readings: { load: 9 } }] });
  const [trigger] = triggers;
  if (trigger === undefined) throw new Error('expected a trigger');
  const steps = evaluateInSteps(trigger, noState, readUpload({ position: 7, partId: 'part', batch }));
  let interruptions = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) interruptions++;
  expect(interruptions).toBeGreaterThan(5);
  expect(step.value.decisions).toHaveLength(1);
});

test('D21 part_data_ingested: one event per upload, with exactly the specified body keys and the last reading', () => {
  const messages = decided(onData('tabular'), threeReadings);
  expect(messages).toHaveLength(1);
  expect(bodyOf(messages[0])).toEqual({
    component_name: 'cpu',
    component_type: 'core:component:sensor',
    method_name: 'Readings',
    min_time_received: '2026-01-02T03:04:05.678Z',
    max_time_received: '2026-01-02T03:04:07.678Z',
    machine_name: 'Machine',
    location_name: 'Location',
    org_name: 'Organization',
    file_id: 'file-1',
    data: {
      metadata: { received_at: '2026-01-02T03:04:07.678Z', requested_at: '2026-01-02T03:04:07.673Z' },
      data: { readings: { load: 9 } },
    },
  });
});

test('D21 conditional_data_ingested: exactly its body keys, the condition as configured, and the first reading that met it', () => {
  const condition = loadAbove(5);
  const messages = decided(conditional(condition), threeReadings);
  expect(messages).toHaveLength(1);
  expect(bodyOf(messages[0])).toEqual({
    component_name: 'cpu',
    component_type: 'core:component:sensor',
    method_name: 'Readings',
    machine_name: 'Machine',
    location_name: 'Location',
    org_name: 'Organization',
    trigger_condition: condition,
    data: {
      metadata: { received_at: '2026-01-02T03:04:06.678Z', requested_at: '2026-01-02T03:04:06.673Z' },
      data: { readings: { load: 7 } },
    },
  });
});

test('both data triggers send POST with the four ids as headers and no names', () => {
  for (const trigger of [onData('tabular'), conditional(loadAbove(5))]) {
    const [message] = decided(trigger, threeReadings);
    if (!message) throw new Error('expected a message');
    expect(webhookRequest(message.event)).toMatchObject({ method: 'POST' });
    expect(webhookRequest(message.event).headers).toEqual({
      'Org-Id': 'org',
      'Location-Id': 'loc',
      'Part-Id': 'part',
      'Robot-Id': 'robot',
      'Content-Type': 'application/json',
    });
  }
});

test('D20 a condition that no reading meets does not fire', () => {
  expect(decided(conditional(loadAbove(9)), threeReadings)).toEqual([]);
});

test('D20 without conditions every upload of the linked component and method fires, and no others', () => {
  const linked = { data_capture_method: 'sensor:cpu:Readings' };
  for (const conditions of [{}, { conditions: {} }, { conditions: { evals: [] } }]) {
    expect(decided(conditional({ ...linked, ...conditions }))).toHaveLength(1);
  }
  expect(decided(conditional(linked), { metadata: { componentName: 'other' } })).toEqual([]);
  expect(decided(conditional(linked), { metadata: { methodName: 'DoCommand' } })).toEqual([]);
});

test.each([
  [DataType.TABULAR_SENSOR, 'tabular'],
  [DataType.BINARY_SENSOR, 'binary'],
  [DataType.FILE, 'file'],
])('data type %i fires triggers for %s only', (type, name) => {
  const fired = ['tabular', 'binary', 'file', 'unspecified'].filter(
    (one) => decided(onData(one), { type }).length === 1,
  );
  expect(fired).toEqual([name]);
});

test.each([
  [DataType.TABULAR_SENSOR, 'tabular'],
  [DataType.BINARY_SENSOR, 'binary'],
  [DataType.FILE, 'file'],
])(
  'D53 an upload whose sender gave no type, stored as type %i, fires triggers for unspecified and for %s',
  (type, name) => {
    const stored = { type, metadata: { typeByContent: true } };
    const fired = ['tabular', 'binary', 'file', 'unspecified'].filter(
      (one) => decided(onData(one), stored).length === 1,
    );
    expect(fired).toEqual([name, 'unspecified']);
  },
);

test('D21 binary readings and files have times but no data', () => {
  const binary = bodyOf(
    decided(onData('binary'), { type: DataType.BINARY_SENSOR, readings: [new Uint8Array(3)], receivedAtMs: 1_000 })[0],
  );
  expect(binary).not.toHaveProperty('data');
  expect(binary).toMatchObject({ min_time_received: '1970-01-01T00:00:01.000Z' });
  const file = bodyOf(decided(onData('file'), { type: DataType.FILE, readings: [], syncedAtMs: 5_000 })[0]);
  expect(file).not.toHaveProperty('data');
  expect(file).toMatchObject({ max_time_received: '1970-01-01T00:00:05.000Z' });
});

test('an upload none of which was stored does not fire', () => {
  expect(decided(onData('tabular'), { readings: [] })).toEqual([]);
});

test.each([
  ['a reading beyond the limit', 'x'.repeat(300_000)],
  ['a body just beyond the limit', 'x'.repeat(256 * 1024 - 300)],
  ['a reading whose text grows in JSON', '\u0001'.repeat(60_000)],
])('D21 %s leaves data out and says so', (_what, text) => {
  const [message] = decided(onData('tabular'), { readings: [{ readings: { text } }] });
  const body = bodyOf(message);
  expect(body).not.toHaveProperty('data');
  expect(body['data_omitted']).toMatch(/^data left out: .* the limit is 262144$/);
  expect(body).toMatchObject({ component_name: 'cpu', file_id: 'file' });
});

test('I11 the id of a message depends only on part, trigger, notification and position', () => {
  const ids = (trigger: unknown, shape?: UploadShape) => decided(trigger, shape).map(({ id }) => id);
  const [id] = ids(onData('tabular'));
  expect(id).toMatch(/^msg_[0-9a-f]{40}$/);
  expect(ids(onData('tabular'), { readings: [{ readings: { load: 2 } }] })).toEqual([id]);
  expect(ids({ ...onData('tabular'), name: 'else' })).not.toEqual([id]);
  expect(
    ids({ ...onData('tabular'), notifications: [{ type: 'webhook', value: 'https://example.com/b' }] }),
  ).not.toEqual([id]);
});

test('a condition on a damaged reading cannot be evaluated', () => {
  const { triggers } = parseTriggers([conditional(loadAbove(0))], components);
  // LoggedUpload.readings = 5, a SensorData with a truncated document.
  const batch = concatBytes([Uint8Array.of(0x2a, 2, 0x12, 0xff), logged()]);
  const upload = readUpload({ position: 1, partId: 'part', batch });
  for (const trigger of triggers) expect(() => evaluate(trigger, noState, upload)).toThrow(/SensorData/);
  expect(triggers).toHaveLength(1);
});
