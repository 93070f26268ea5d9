import { systemClock } from '@platform/base';
import { builtInModels as namedModels } from '@platform/machine-config/built-in-models';
import { captureMethodsOf } from '@platform/machine-config/capture-methods';
import type { Field, Fields } from '@platform/machine-config/fields';
import { type AttributeSchema, builtInSchemas } from '@platform/machine-config/schema';
import { resourceTypes } from '@platform/resources';
import { expect, test } from 'vitest';
import { builtInModels } from './built-in.ts';

const unused = () => expect.fail('nothing is built');
const models = builtInModels({
  clock: systemClock,
  dataManager: unused,
  kernel: unused,
  trust: { untrusted: false },
  home: '/',
});

test('the built-in models that the cloud knows are exactly those of the machine-server', () => {
  const named = Object.entries(namedModels).flatMap(([api, models]) => models.map((model) => `${api} ${model}`));
  expect(named.toSorted()).toEqual(models.map(({ api, model }) => `${api} ${model}`).toSorted());
});

test('each model is loaded from its own module', async () => {
  for (const { api, model, load } of models) expect(await load()).toMatchObject({ api, model });
});

const types = {
  bool: 'boolean',
  docdbUri: 'string',
  tags: 'array',
  absolutePaths: 'array',
  list: 'array',
  int: 'integer',
  float: 'number',
} as const;
const typeOf = (kind: Field['kind']): string | undefined =>
  kind === 'any' ? undefined : kind === 'string' || kind === 'object' ? kind : types[kind];

/** The content of a table in the form of the attributes' schema: types, defaults, limits. */
function bareSchemaOf(fields: Fields): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const {
        default: value,
        min,
        max,
        of,
      } = { default: undefined, min: undefined, max: undefined, of: undefined, ...field };
      return [name, { type: typeOf(field.kind), value, min, max, of: of && bareSchemaOf(of) }];
    }),
  );
}
function bareOf({ properties = {} }: AttributeSchema): object {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const { type, default: value, minimum: min, maximum: max } = schema;
      return [
        name,
        { type, value: type === undefined ? undefined : value, min, max, of: schema.properties && bareOf(schema) },
      ];
    }),
  );
}

test('the attributes that the cloud and the web UI know are exactly those that the models read, with types, defaults and limits', async () => {
  for (const { api, model, load } of models) {
    const { fields } = await load();
    const schema = builtInSchemas[api]?.[model] ?? expect.fail(`${api} ${model} has no schema`);
    expect([api, model, bareOf(schema)]).toEqual([
      ...[api, model, bareSchemaOf(fields ?? expect.fail(`${api} ${model} has no table`))],
    ]);
  }
});

test('each model and each of its attributes is documented, and required attributes exist', () => {
  for (const [api, models] of Object.entries(builtInSchemas))
    for (const [model, { description, properties = {}, required = [] }] of Object.entries(models)) {
      expect([api, model, description]).toEqual([api, model, expect.stringMatching(/^[A-Z].*\.$/)]);
      for (const [name, schema] of Object.entries(properties))
        expect([api, model, name, schema.description]).toEqual([api, model, name, expect.stringMatching(/^[A-Z]\w*/)]);
      expect(Object.keys(properties)).toEqual(expect.arrayContaining([...required]));
    }
});

test('D12 the table of capture methods contains those of each type, and all of them are captured', () => {
  const notCaptured = resourceTypes.flatMap(({ api, captures }) => {
    const table = new Map(captureMethodsOf(api).map(({ name, kind }) => [name, kind]));
    for (const [name, { kind }] of Object.entries(captures)) expect([name, table.get(name)]).toEqual([name, kind]);
    return [...table.keys()].filter((name) => !Object.hasOwn(captures, name)).map((name) => `${api} ${name}`);
  });
  expect(notCaptured, 'in capture-methods.ts but not in `captures` of the descriptor').toEqual([]);
});
