import { systemClock } from '@platform/base';
import { builtInModels as namedModels } from '@platform/machine-config/built-in-models';
import { captureMethodsOf } from '@platform/machine-config/capture-methods';
import { attributeNames, builtInAttributes } from '@platform/machine-config/unknown-attributes';
import { resourceTypes } from '@platform/resources';
import { expect, test } from 'vitest';
import { builtInModels } from './built-in.ts';

const unused = () => expect.fail('nothing is built');

test('the built-in models that the cloud knows are exactly those of the machine-server', () => {
  const named = Object.entries(namedModels).flatMap(([api, models]) => models.map((model) => `${api} ${model}`));
  expect(named.toSorted()).toEqual(
    builtInModels(systemClock, unused, { untrusted: false, kernel: unused })
      .map(({ api, model }) => `${api} ${model}`)
      .toSorted(),
  );
});

test('the attributes that the cloud knows are exactly those that the models read', () => {
  for (const { api, model, fields } of builtInModels(systemClock, unused, { untrusted: false, kernel: unused }))
    expect([api, model, [...(builtInAttributes[api]?.[model] ?? [])].toSorted()]).toEqual([
      ...[api, model, attributeNames(fields ?? expect.fail(`${api} ${model} has no table`)).toSorted()],
    ]);
});

test('D12 the table of capture methods contains those of each type, and all of them are captured', () => {
  const notCaptured = resourceTypes.flatMap(({ api, captures }) => {
    const table = new Map(captureMethodsOf(api).map(({ name, kind }) => [name, kind]));
    for (const [name, { kind }] of Object.entries(captures)) expect([name, table.get(name)]).toEqual([name, kind]);
    return [...table.keys()].filter((name) => !Object.hasOwn(captures, name)).map((name) => `${api} ${name}`);
  });
  expect(notCaptured, 'in capture-methods.ts but not in `captures` of the descriptor').toEqual([]);
});
