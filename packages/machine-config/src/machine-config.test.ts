import { readFileSync } from 'node:fs';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { RobotConfigSchema } from '@platform/proto/platform/app/v1/robot';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readCaptureMethods, readDataManagerAttributes } from './data-manager.ts';
import { parse } from './parse.ts';
import { fromRobotConfig, revisionOf, toRobotConfig } from './robot-config.ts';
import { documentSchema } from './zod-schema.ts';

const document = {
  components: [
    {
      name: 'host',
      api: 'core:component:sensor',
      model: 'core:builtin:host-telemetry',
      attributes: { volumes: ['/'] },
      service_configs: [
        { type: 'data_manager', attributes: { capture_methods: [{ method: 'Readings', capture_frequency_hz: 1 }] } },
      ],
    },
  ],
  services: [
    {
      name: 'data_manager',
      api: 'core:service:data_manager',
      model: 'core:builtin:builtin',
      attributes: { sync_interval_mins: 0.0167 },
      depends_on: ['host'],
    },
  ],
  triggers: [{ name: 't', event: { type: 'part_online' }, notifications: [{ type: 'webhook', value: 'http://x' }] }],
};

// biome-ignore lint/suspicious/noExplicitAny: tests break documents in ways that no type allows.
const edited = (change: (copy: any) => void): unknown => {
  const copy = structuredClone(document);
  change(copy);
  return copy;
};

test('a document as specified has no problems and keeps its content', () => {
  const { config, problems } = parse(document);
  expect(problems).toEqual([]);
  expect(config.components[0]).toMatchObject({ name: 'host', attributes: { volumes: ['/'] } });
  expect(config.triggers).toEqual(document.triggers);
});

test('every problem is reported with its path, and valid neighbours stay', () => {
  const { config, problems } = parse(
    edited((copy) => {
      copy.components.unshift({ name: 5, api: 'core:component:sensor' });
      copy.components[1].colour = 'red';
      copy.services[0].attributes.sync_interval_mins = 'often';
      copy.services[0].attributes.sink = true;
      copy.services[0].depends_on.push('ghost');
      copy.debug = 'yes';
      copy.extra = 1;
    }),
  );
  const found = problems.map(({ level, path }) => `${level} ${path}`).toSorted();
  expect(found).toEqual([
    'error components[0].name',
    'error debug',
    'error services[0].attributes.sync_interval_mins',
    'error services[0].depends_on[1]',
    'warning components[1].colour',
    'warning extra',
    'warning services[0].attributes.sink',
  ]);
  expect(config.components.map((component) => component.name)).toEqual(['host']);
});

test('a non-object is an error, not an exception', () => {
  for (const wrong of [null, 5, 'x', [], [1]]) {
    const { config, problems } = parse(wrong);
    expect(config.components).toEqual([]);
    const message = `expected an object, found ${JSON.stringify(wrong)}`;
    expect(problems).toEqual([{ level: 'error', path: '$', message }]);
  }
});

test('D24 retention days that are not a positive whole number are ignored with a warning', () => {
  for (const days of [0, -1, 1.5, 'x', null]) {
    const { config, problems } = parse({ data_retention_policy: { days } });
    expect(config.data_retention_policy).toBeUndefined();
    expect(problems).toMatchObject([{ level: 'warning', path: 'data_retention_policy.days' }]);
  }
  expect(parse({ data_retention_policy: { days: 7 } }).config.data_retention_policy).toEqual({ days: 7 });
});

test('two resources with the same name and cycles in depends_on are errors', () => {
  const twice = parse(edited((copy) => copy.components.push(copy.components[0])));
  expect(twice.problems).toMatchObject([{ level: 'error', path: 'components[1].name' }]);
  const circle = parse(edited((copy) => Object.assign(copy.components[0], { depends_on: ['data_manager'] })));
  expect(circle.problems.map(({ message }) => message)).toContain(
    'expected no cycle, found host → data_manager → host',
  );
});

test('D2 rdk and core are the same namespace, and the older form with type instead of api is accepted', () => {
  const { config, problems } = parse({
    components: [{ name: 'a', namespace: 'rdk', type: 'sensor', model: 'rdk:builtin:fake' }],
  });
  expect(problems).toEqual([]);
  expect(config.components[0]).toMatchObject({ api: 'core:component:sensor', model: 'core:builtin:fake' });
  const other = parse({
    components: [{ name: 'a', api: 'rdk:component:sensor', service_configs: [{ type: 'rdk:service:data_manager' }] }],
    services: [{ name: 's', api: 'rdk:service:generic', depends_on: ['rdk:component:sensor/a'] }],
    maintenance: { sensor_name: 'rdk:component:sensor/a', maintenance_allowed_key: 'k' },
  });
  expect(other.problems).toEqual([]);
  expect(JSON.stringify(other.config)).not.toContain('rdk');
});

test('the parsed document reaches the machine through the wire, and the data manager gets the specified defaults', () => {
  const { config } = parse(document);
  const message = toRobotConfig(config, { id: 'part' });
  const arrived = fromRobotConfig(fromBinary(RobotConfigSchema, toBinary(RobotConfigSchema, message)));
  expect(arrived.components[0]).toMatchObject(document.components[0] ?? {});
  const { methods } = readCaptureMethods(arrived.components[0] ?? { service_configs: [] }, 'components[0]');
  expect(methods).toMatchObject([{ method: 'Readings', capture_queue_size: undefined, capture_buffer_size: 4_096 }]);
  const { attributes, problems } = readDataManagerAttributes(arrived.services[0]?.attributes ?? {}, 'services[0]');
  expect(problems).toEqual([]);
  expect(attributes).toMatchObject({
    capture_disabled: false,
    sync_interval_mins: 0.0167,
    maximum_capture_file_size_bytes: 262_144,
    file_last_modified_millis: 10_000,
    disk_usage_deletion_threshold: 0.9,
    capture_dir_deletion_threshold: 0.5,
    delete_every_nth_when_disk_full: 5,
  });
});

test('D10 the revision depends on the content, not on the order of keys', () => {
  const first = parse(document).config;
  const shuffled = parse(Object.fromEntries(Object.entries(document).toReversed())).config;
  expect(revisionOf(shuffled)).toBe(revisionOf(first));
  expect(revisionOf(parse({ ...document, debug: true }).config)).not.toBe(revisionOf(first));
});

test('the JSON Schema file matches the zod schema', () => {
  const file = new URL('./machine-config.schema.json', import.meta.url);
  const expected = z.toJSONSchema(documentSchema, { io: 'input' });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(expected)));
});
