import { create } from '@bufbuild/protobuf';
import { RobotConfigSchema } from '@platform/proto/platform/app/v1/robot';
import { expect, test } from 'vitest';
import { isForService } from './canonical-names.ts';
import { readCaptureMethods } from './data-manager.ts';
import { readDataPolicies } from './data-policies.ts';
import { parse } from './parse.ts';
import { fromRobotConfig } from './robot-config.ts';

const canonical = {
  api: 'core:component:sensor',
  model: 'core:builtin:fake',
  depends_on: ['core:component:sensor/b', 'c'],
};

test.each(['fake', 'rdk:builtin:fake', 'core:builtin:fake'])(
  'the model %s and names in either namespace mean the same when a document is checked and when a machine runs it',
  (model) => {
    const depends_on = ['rdk:component:sensor/b', 'c'];
    const other = (name: string) => ({ name, api: 'rdk:component:sensor', model });
    const components = [{ ...other('a'), depends_on }, other('b'), other('c')];
    const { config, problems } = parse({ components });
    expect(problems).toEqual([]);
    expect(config.components[0]).toMatchObject(canonical);
    const message = create(RobotConfigSchema, {
      components: components.map(({ name, api }) => ({ name, api, model, dependsOn: depends_on })),
    });
    expect(fromRobotConfig(message).components[0]).toMatchObject(canonical);
  },
);

test('a short model that is not built in is reported by its full name; a module’s is unchanged', () => {
  const sensor = (model: string) => ({ name: model, api: 'core:component:sensor', model });
  const { config, problems } = parse({ components: [sensor('ghost'), sensor('acme:gauges:tank')] });
  expect(config.components.map(({ model }) => model)).toEqual(['core:builtin:ghost', 'acme:gauges:tank']);
  expect(problems.map(({ level, path }) => `${level} ${path}`)).toEqual(['warning components[0].model']);
});

test('a service_configs entry applies to services named in full or by the last word, in checks, retention and on the machine', () => {
  for (const [type, isFor] of [
    ['data_manager', true],
    ['core:service:data_manager', true],
    ['rdk:service:data_manager', true],
    ['other_data_manager', false],
    ['core:service:motion', false],
  ] as const) {
    const attributes = {
      capture_methods: [{ method: 'Readings', capture_frequency_hz: 1 }],
      retention_policy: { days: 3 },
    };
    const component = {
      name: 's',
      api: 'core:component:sensor',
      model: 'fake',
      service_configs: [{ type, attributes }],
    };
    expect(isForService(type, 'core:service:data_manager')).toBe(isFor);
    expect(readCaptureMethods(component, '').methods).toHaveLength(isFor ? 1 : 0);
    expect(readDataPolicies({ components: [component] }).resources).toHaveLength(isFor ? 1 : 0);
    const { problems } = parse({ components: [{ ...component, service_configs: [{ type, attributes: { a: 1 } }] }] });
    expect(problems).toHaveLength(isFor ? 1 : 0);
  }
});

test('a short name in depends_on means every resource of that name: a cycle through any of them is an error', () => {
  const named = (kind: string, name: string, depends_on: string[] = []) => ({
    ...{ name, api: `acme:${kind}:x`, model: 'acme:x:y', depends_on },
  });
  const circle = { components: [named('component', 'a', ['b']), named('component', 'b', ['a'])] };
  const messages = (services: object[]) =>
    parse({ ...circle, services }).problems.map(({ path, message }) => `${path}: ${message}`);
  expect(messages([])).toEqual(['components[1].depends_on: expected no cycle, found a → b → a']);
  expect(messages([named('service', 'a')])).toEqual([
    'components[1].depends_on: expected no cycle, found a → b → every resource named a → a',
  ]);
});
