import type { JsonObject, ResourceConfig } from '@platform/machine-config/schema';
import { resourceTypes } from '@platform/resources';
import { expect, test } from 'vitest';
import { planCapture } from './plan-capture.ts';

const resource = (...capture_methods: JsonObject[]): ResourceConfig => ({
  name: 'temp',
  api: 'core:component:sensor',
  model: 'core:builtin:fake',
  attributes: {},
  depends_on: [],
  service_configs: [{ type: 'data_manager', attributes: { capture_methods } }],
});
const defaults = {
  tags: ['site'],
  directory: '/capture',
  maxFileBytes: 262_144,
  ownDirectories: true,
  types: resourceTypes,
};
const same = (path: string): string => path;

test('a service and a method have at most 100 tags in total: the first ones are used, with a warning', () => {
  const tags = Array.from({ length: 100 }, (_, index) => `t${index}`);
  const { plans, problems } = planCapture(
    [resource({ method: 'Readings', capture_frequency_hz: 1, tags })],
    defaults,
    same,
  );
  expect(plans[0]?.tags).toEqual(['site', ...tags.slice(0, 99)]);
  expect(problems).toMatchObject([{ level: 'warning', message: expect.stringContaining('found 101') }]);
});

test('D12 tags are combined, a method’s own capture directory and buffer apply, and methods work with and without Get', () => {
  const method = {
    method: 'GetReadings',
    capture_frequency_hz: 0.5,
    tags: ['a', 'site'],
    capture_directory: '/other',
    capture_buffer_size: 99,
  };
  const { plans, problems } = planCapture([resource(method)], defaults, same);
  expect(problems).toEqual([]);
  expect(plans).toMatchObject([
    {
      resource: 'core:component:sensor/temp',
      method: 'Readings',
      hz: 0.5,
      tags: ['site', 'a'],
      directory: '/other',
      bufferBytes: 99,
      queueSize: undefined,
    },
  ]);
});

test('D12 a method that the type lacks is reported; disabled ones are not', () => {
  const methods = [
    { method: 'Voltage', capture_frequency_hz: 1 },
    { method: 'DoCommand', capture_frequency_hz: 1, additional_params: { docommand_input: { a: 1 } } },
    { method: 'Readings', capture_frequency_hz: 1, disabled: true },
    { method: 'Readings', capture_frequency_hz: 0 },
  ];
  const { plans, problems } = planCapture([resource(...methods)], defaults, same);
  expect(plans.map(({ method }) => method)).toEqual(['DoCommand']);
  expect(problems.map(({ level }) => level)).toEqual(['warning', 'error']);
  expect(problems[1]?.message).toBe(
    'expected a method of core:component:sensor that this version of the machine-server captures (Readings, DoCommand, GetWorldPose), found "Voltage"',
  );
});

test('one method with two sets of parameters has two collectors; the same set twice has one, with a warning', () => {
  const pin = (pin_name: string): JsonObject => ({
    method: 'DoCommand',
    capture_frequency_hz: 1,
    additional_params: { docommand_input: { pin_name } },
  });
  const { plans, problems } = planCapture([resource(pin('1'), pin('2'), pin('1'))], defaults, same);
  expect(plans).toHaveLength(2);
  expect(problems).toMatchObject([{ level: 'warning', message: expect.stringContaining('twice') }]);
});

test('D16 -untrusted-env refuses a changed capture directory by name', () => {
  const method = { method: 'Readings', capture_frequency_hz: 1, capture_directory: '/etc' };
  const { plans, problems } = planCapture([resource(method)], { ...defaults, ownDirectories: false }, same);
  expect(plans).toEqual([]);
  expect(problems[0]?.message).toContain(
    '-untrusted-env does not allow changing the capture directory: capture_directory',
  );
});

test('a method that a type lacks is reported and not captured', () => {
  const camera = { ...resource({ method: 'Voltage', capture_frequency_hz: 1 }), api: 'core:component:camera' };
  const { plans, problems } = planCapture([camera], defaults, same);
  expect(plans).toEqual([]);
  expect(problems).toEqual([
    {
      path: 'core:component:camera/temp',
      level: 'error',
      message:
        'expected a method of core:component:camera that this version of the machine-server captures (GetImages, ReadImage, NextPointCloud, DoCommand, GetWorldPose), found "Voltage"',
    },
  ]);
  const tracker = { ...camera, api: 'core:component:pose_tracker' };
  const [unknown] = planCapture([tracker], defaults, same).problems;
  expect(unknown?.message).toBe(
    'expected DoCommand, as for every type that only modules know, found "Voltage" of core:component:pose_tracker',
  );
});

test('D12 commands of a type that only a module knows are captured', () => {
  const additional_params = { docommand_input: { read: 'all' } };
  const captured = resource({ method: 'DoCommand', capture_frequency_hz: 1, additional_params });
  const { plans, problems } = planCapture([{ ...captured, api: 'acme:component:gauge' }], defaults, same);
  expect([plans.map(({ api, method }) => [api, method]), problems]).toEqual([
    [['acme:component:gauge', 'DoCommand']],
    [],
  ]);
});

test('an excessive buffer and queue are limited, with a warning each', () => {
  const most = { capture_buffer_size: 1_048_576, capture_queue_size: 100_000 };
  const beyond = { capture_buffer_size: 1e12, capture_queue_size: 1e12 };
  const method = { method: 'Readings', capture_frequency_hz: 1, ...beyond };
  const fits = planCapture([resource({ ...method, ...most })], defaults, same);
  expect(fits.problems).toEqual([]);
  const { plans, problems } = planCapture([resource(method)], defaults, same);
  expect(plans).toEqual(fits.plans);
  expect(plans).toMatchObject([{ bufferBytes: 1_048_576, queueSize: 100_000 }]);
  expect(problems).toMatchObject([
    {
      level: 'warning',
      message: 'capture_buffer_size 1000000000000 exceeds the maximum of 1048576, which is used instead',
    },
    {
      level: 'warning',
      message: 'capture_queue_size 1000000000000 exceeds the maximum of 100000, which is used instead',
    },
  ]);
});

test('a method without a parameter that it needs is refused, with the path of the parameter', () => {
  const methods = [
    { method: 'DoCommand', capture_frequency_hz: 1 },
    { method: 'DoCommand', capture_frequency_hz: 1, additional_params: { docommand_input: [1] } },
    { method: 'Readings', capture_frequency_hz: 1 },
  ];
  const { plans, problems } = planCapture([resource(...methods)], defaults, same);
  expect(plans.map(({ method }) => method)).toEqual(['Readings']);
  const at = (index: number): string =>
    `temp.service_configs[0].attributes.capture_methods[${index}].additional_params.docommand_input`;
  expect(problems).toEqual([
    { path: at(0), level: 'error', message: 'expected an object (the command), found nothing' },
    { path: at(1), level: 'error', message: 'expected an object (the command), found [1]' },
  ]);
});
