import { create } from '@bufbuild/protobuf';
import { RobotConfigSchema } from '@platform/proto/platform/app/v1/robot';
import { expect, test } from 'vitest';
import { parse } from './parse.ts';
import { fromRobotConfig } from './robot-config.ts';

const canonical = {
  api: 'core:component:sensor',
  model: 'core:builtin:fake',
  depends_on: ['core:component:sensor/b', 'c'],
};

test.each(['fake', 'rdk:builtin:fake', 'core:builtin:fake'])(
  'the model %s and names of either namespace mean the same when a document is checked and when a machine runs it',
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

test('a short model that is not built in is named in full, one of a module is left as it is', () => {
  const sensor = (model: string) => ({ name: model, api: 'core:component:sensor', model });
  const { config, problems } = parse({ components: [sensor('ghost'), sensor('acme:gauges:tank')] });
  expect(config.components.map(({ model }) => model)).toEqual(['core:builtin:ghost', 'acme:gauges:tank']);
  expect(problems.map(({ level, path }) => `${level} ${path}`)).toEqual(['warning components[0].model']);
});
