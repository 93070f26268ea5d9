import { expect, test } from 'vitest';
import type { Json, JsonObject } from './schema.ts';
import { at, method, part, told } from './testing/part-document.ts';

test('D12 a method that the resource type lacks gives a warning that lists those of the type, with and without Get', () => {
  expect(told(part({ ...method, method: 'GetReadings' }))).toEqual([]);
  expect(told(part({ ...method, method: 'Voltage' }))).toEqual([
    `warning ${at}.method: expected a capture method of core:component:sensor (Readings, GetWorldPose, DoCommand), found "Voltage"`,
  ]);
  const unlisted = { api: 'acme:component:weather', model: 'acme:weather:one' };
  expect(told(part(method, unlisted))).toEqual([
    `warning ${at}.method: expected a capture method of acme:component:weather (DoCommand), found "Readings"`,
  ]);
  const command = { ...method, method: 'DoCommand', additional_params: { docommand_input: { read: 1 } } };
  expect(told(part(command, unlisted))).toEqual([]);
  expect(told(part({ ...command, additional_params: {} }))).toEqual([
    `error ${at}.additional_params.docommand_input: expected an object (the command), found nothing`,
  ]);
  const additional_params = { reader_name: 'light' };
  const ofAnother = { ...method, name: 'rdk:component:board/b', method: 'Analogs', additional_params };
  const board = { name: 'b', api: 'core:component:board', model: 'core:builtin:fake' };
  const [sensor] = part(ofAnother)['components'] as JsonObject[];
  expect(told({ ...part(ofAnother), components: [sensor, board] as Json[] })).toEqual([]);
  expect(told(part({ ...method, name: 'a' }))[0]).toMatch(/^warning .*\.name: expected a full name .*, found "a"/);
});

test('D12 a capture method whose name is no resource is an error; of a disabled one, or where remotes may provide it, a warning', () => {
  const other = { ...method, name: 'core:component:sensor/b' };
  const [sensor] = part(other)['components'] as JsonObject[];
  const expected = `${at}.name: expected the full name of a component or service, found "core:component:sensor/b"`;
  expect(told(part(other))).toEqual([`error ${expected}: nothing is captured`]);
  const off = { name: 'b', api: 'core:component:sensor', model: 'core:builtin:fake', disabled: true };
  expect(told({ ...part(other), components: [sensor, off] as Json[] })).toEqual([
    `warning ${expected}, which is disabled: nothing is captured`,
  ]);
  expect(told({ ...part(other), fragments: [{ id: 'f' }] })).toEqual([`warning ${expected}: nothing is captured`]);
});

test('a capture without a data manager is a warning that says what to add; a disabled data manager does not count', () => {
  const { components } = part(method) as { components: Json[] };
  const expected = `warning components[0].service_configs[0].attributes.capture_methods: expected the service core:service:data_manager, which captures and syncs, found none: nothing is captured. Add it to services: {"name": "data_manager", "api": "core:service:data_manager"}`;
  expect(told({ components })).toEqual([expected]);
  const off = { name: 'd', api: 'core:service:data_manager', disabled: true };
  expect(told({ components, services: [off] })).toEqual([expected]);
  expect(told(part(method))).toEqual([]);
  // Nothing is lost by its absence.
  const { components: quiet } = part({ ...method, disabled: true }) as { components: Json[] };
  expect(told({ components: quiet })).toEqual([]);
  // A fragment may provide it.
  expect(told({ components, fragments: [{ id: 'f' }] })).toEqual([]);
});

test('a second data manager is a warning; a disabled one does not count', () => {
  const document = part(method);
  const manager = { name: 'e', api: 'core:service:data_manager', model: 'core:builtin:builtin' };
  const both = (more: JsonObject): string[] =>
    told({ ...document, services: [...(document['services'] as Json[]), { ...manager, ...more }] });
  expect(both({})).toEqual([
    'warning services[1]: expected one data manager, found a second one: the machine uses "d" and ignores "e"',
  ]);
  expect(both({ disabled: true })).toEqual([]);
});

test('capture methods among the attributes of the data manager are told where they belong', () => {
  expect(told(part(method, {}, { capture_methods: [method] }))).toEqual([
    'warning services[0].attributes.capture_methods: expected capture_methods in service_configs of the resource that is captured, found them in the data manager: this key has no effect',
  ]);
});

test('a capture frequency that is missing, negative, infinite or not a number is an error; 0 captures nothing, with a warning', () => {
  const frequency = (hz: Json | undefined): string[] =>
    told(part({ method: 'Readings', ...(hz === undefined ? {} : { capture_frequency_hz: hz }) }));
  const error = `error ${at}.capture_frequency_hz: expected`;
  expect(frequency(undefined)).toEqual([`${error} hertz (0.5 is one reading in 2 seconds), found nothing`]);
  expect(frequency(null)).toEqual([`${error} hertz (0.5 is one reading in 2 seconds), found null`]);
  expect(frequency(-1)).toEqual([`${error} a number of at least 0, found -1`]);
  expect(frequency('1')).toEqual([`${error} a number of at least 0, found "1"`]);
  expect(
    told(JSON.parse(JSON.stringify(part(method)).replace('"capture_frequency_hz":1', '"capture_frequency_hz":1e999'))),
  ).toEqual([`${error} a finite number, found Infinity`]);
  expect(frequency(0)).toEqual([
    `warning ${at}.capture_frequency_hz: expected hertz above 0, found 0: nothing is captured`,
  ]);
});

test('a sync order or action that does not exist, and a move without a target, give a warning before they are saved', () => {
  const dm = 'warning services[0].attributes';
  expect(told(part(method, {}, { sync_order: 'newest_first', additional_sync_action: 'keep' }))).toEqual([]);
  expect(told(part(method, {}, { additional_sync_action: 'move', additional_sync_move_to: '/sent' }))).toEqual([]);
  expect(told(part(method, {}, { sync_order: 'newest', additional_sync_action: 'Keep' }))).toEqual([
    `${dm}.sync_order: expected one of oldest_first, newest_first, found "newest": oldest_first is used`,
    `${dm}.additional_sync_action: expected one of delete, keep, move, found "Keep": files are kept where they are`,
  ]);
  for (const to of [undefined, 'sent'])
    expect(
      told(part(method, {}, { additional_sync_action: 'move', ...(to && { additional_sync_move_to: to }) })),
    ).toEqual([
      expect.stringMatching(
        /additional_sync_move_to: expected an absolute path, found .*: files are kept where they are$/,
      ),
    ]);
});

test('a relative capture directory gives a warning before it is saved', () => {
  for (const directory of ['', '/data', '~/data', 'C:\\data'])
    expect(told(part(method, {}, { capture_dir: directory }))).toEqual([]);
  expect(told(part(method, {}, { capture_dir: 'data' }))).toEqual([
    'warning services[0].attributes.capture_dir: expected an absolute path, found "data": it is relative to the folder in which the machine-server was started',
  ]);
});

test('an invalid time window and a priority that is not a number give a warning before they are saved', () => {
  const dm = 'warning services[0].attributes';
  const window = { start: '22:00', end: '06:00', days: ['mon'] };
  expect(told(part(method, {}, { sync_priorities: { a: 1 }, sync_rules: { time_window: window } }))).toEqual([]);
  const wrong = { sync_priorities: { a: 'high' }, sync_rules: { time_window: { ...window, end: '25:00' } } };
  expect(told(part(method, {}, wrong))).toEqual([
    `${dm}.sync_priorities.a: expected a number, found "high": it has no effect`,
    `${dm}.sync_rules.time_window: sync_rules.time_window.end: expected a time such as "22:00", found "25:00": this rule is not used`,
  ]);
});
