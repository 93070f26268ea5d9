import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { callOf } from '../../access/testing/call-of.ts';
import { app, fleet, openMachines } from '../testing/open-machines.ts';

const probe = { name: 'probe', api: 'core:component:sensor', model: 'acme:sensors:probe' };

async function given() {
  const on = await openMachines({
    packages: {
      stampOf: () => '',
      resolved: async (config) => config,
      problemsOf: async () => [{ path: 'packages[0].package', level: 'warning', message: 'no such package' }],
    },
    targetProblems: async () => [
      { path: 'triggers[0].notifications.value', level: 'warning', message: 'target refused' },
    ],
  });
  const { machines, partId, owner, ask } = on;
  return {
    async validate(document: object): Promise<string[]> {
      const request = { partId, document: JSON.stringify(document) };
      const { problems } = await ask(owner, fleet.validateConfiguration, request);
      return problems.map(({ severity, path, message }) => `${severity} ${path}: ${message}`);
    },
    /** The warnings sent with the answer. */
    async save(document: object): Promise<string[]> {
      const call = callOf(owner);
      const request = { id: partId, robotConfigJson: JSON.stringify(document) };
      await machines.appHandlers.updateRobotPart?.(create(app.updateRobotPart.input, request), call);
      return JSON.parse(decodeURIComponent(call.responseHeaders.get('platform-warnings') ?? '[]'));
    },
  };
}

test('a save returns the same warnings as a validation: models, packages and webhook targets, even if nothing changed', async () => {
  const { validate, save } = await given();
  const found = await validate({ components: [probe] });
  expect(found).toEqual([
    'warning components[0].model: expected a built-in model, or modules that provide others, found "acme:sensors:probe" and no modules: nothing can build it',
    'warning packages[0].package: no such package',
    'warning triggers[0].notifications.value: target refused',
  ]);
  for (let times = 0; times < 2; times++)
    expect(await save({ components: [probe] })).toEqual(found.map((text) => text.replace('warning ', '')));
});

test('a model is not a problem with a module, if it is built in, or if its resource is disabled', async () => {
  const { validate } = await given();
  const modules = [{ name: 'acme', type: 'local', executable_path: '/opt/acme' }];
  const fake = { ...probe, name: 'fake', model: 'fake' };
  for (const document of [
    { components: [probe], modules },
    { components: [{ ...probe, disabled: true }, fake], services: [{ name: 'd', api: 'core:service:data_manager' }] },
  ])
    expect((await validate(document)).filter((text) => text.includes('.model'))).toEqual([]);
});
