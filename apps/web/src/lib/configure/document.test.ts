import { expect, test } from 'vitest';
import { apiOf, cardsOf, freeName, modelOf, otherKeys, withEntry } from './document.ts';
import { problemsAt, stepsOfPath } from './problems.ts';

const document = {
  components: [
    { name: 'oven', type: 'sensor', model: 'fake' },
    7,
    { name: 'wheel', api: 'rdk:component:motor', model: 'rdk:builtin:gpio' },
  ],
  debug: true,
};

test('each entry has a card, in every spelling of types and models; other values have none', () => {
  expect(cardsOf(document, 'components').map(({ path, name, kind }) => [path, name, kind])).toEqual([
    ['components[0]', 'oven', 'sensor · fake'],
    ['components[2]', 'wheel', 'motor · gpio'],
  ]);
  expect(cardsOf({ components: 'none' }, 'components')).toEqual([]);
  expect(otherKeys(document)).toEqual(['debug']);
  expect(apiOf('components', { type: 'sensor', namespace: 'rdk' })).toBe('core:component:sensor');
  expect(modelOf('services', {})).toBe('core:builtin:builtin');
});

test('an entry is changed, added and removed in its place, and an emptied list is removed', () => {
  expect(withEntry(document, 'components', 1, { name: 'x' }).components).toEqual([
    document.components[0],
    { name: 'x' },
    document.components[2],
  ]);
  expect(withEntry({}, 'services', 0, { name: 'x' })).toEqual({ services: [{ name: 'x' }] });
  expect(withEntry({ services: [{ name: 'x' }], debug: true }, 'services', 0, undefined)).toEqual({ debug: true });
  expect(freeName(document, 'components', 'oven')).toBe('oven-2');
});

test('a problem belongs to the card at or above its path', () => {
  const problems = ['components[1].model', 'components[10]', 'components[1]', '$', 'log[0]'].map((path) => ({ path }));
  expect(problemsAt(problems, 'components[1]').map(({ path }) => path)).toEqual([
    'components[1].model',
    'components[1]',
  ]);
  expect(stepsOfPath('components[1].attributes["a \\"b\\""].c')).toEqual(['components', 1, 'attributes', 'a "b"', 'c']);
});
