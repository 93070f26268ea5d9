import { expect, test } from 'vitest';
import { misfitsOf } from './check-value.ts';
import { attributesSchema, modelChoices, nameFor, schemaAt, valuesAt } from './schemas.ts';

const wheel = { name: 'wheel', api: 'rdk:component:motor', model: 'gpio', attributes: { pins: { a: '7' } } };
const document = {
  components: [wheel, { name: 'pins', api: 'core:component:board', model: 'fake' }],
  triggers: [{ name: 't', event: {} }],
};

test('every place of a document has its schema: keys, attributes of the model, events of triggers', () => {
  expect(Object.keys(schemaAt(document, [])?.properties ?? {})).toEqual(
    expect.arrayContaining(['components', 'triggers', 'log']),
  );
  expect(schemaAt(document, ['components', 0, 'log_configuration', 'level'])?.enum).toContain('warn');
  expect(schemaAt(document, ['components', 0, 'attributes', 'max_power_pct'])).toMatchObject({
    default: 1,
    maximum: 1,
  });
  expect(Object.keys(schemaAt(document, ['components', 0, 'attributes', 'pins'])?.properties ?? {})).toContain(
    'en_high',
  );
  expect(Object.keys(schemaAt(document, ['triggers', 0, 'event'])?.properties ?? {})).toContain('type');
  expect(schemaAt(document, ['components', 0, 'attributes', 'nothing'])).toBeUndefined();
  expect(valuesAt(document, ['components', 0, 'model'])).toEqual(['core:builtin:fake', 'core:builtin:gpio']);
  expect(valuesAt(document, ['components', 0, 'depends_on', 0])).toEqual(['pins']);
});

test('misfits are reported with their paths; values that the machine fills in are accepted', () => {
  const schema = attributesSchema('components', wheel) ?? expect.fail('a built-in model');
  const wrong = { board: 'pins', pins: { a: 7 }, max_power_pct: 3, pwm_freq: 1.5, dir_flip: 'yes' };
  expect(misfitsOf(schema, wrong, 'attributes').map(({ path, message }) => `${path}: ${message}`)).toEqual([
    'attributes.pins.a: expected a text, found 7',
    'attributes.pwm_freq: expected a whole number from 0 to 1000000, found 1.5',
    'attributes.max_power_pct: expected a number from 0.01 to 1, found 3',
    'attributes.dir_flip: expected true or false, found "yes"',
  ]);
  expect(misfitsOf(schema, {}, 'a').map(({ path }) => path)).toEqual(['a.board', 'a.pins']);
  const filled = `\${environment.SPEED}`;
  expect(misfitsOf(schema, { board: 'pins', pins: {}, max_rpm: filled }, 'a')).toEqual([]);
});

test('each model that can be added has a description and gets a descriptive name', () => {
  expect(modelChoices.length).toBeGreaterThan(40);
  expect(modelChoices.every(({ about }) => about !== '')).toBe(true);
  expect(modelChoices.map(nameFor)).toEqual(expect.arrayContaining(['host-telemetry', 'motor', 'data_manager']));
});
