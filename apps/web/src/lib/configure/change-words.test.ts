import type { JsonObject } from '@platform/machine-config/schema';
import { expect, test } from 'vitest';
import { changeWords } from './change-words.ts';

const motor = (more: object = {}): object => ({ name: 'left', api: 'rdk:component:motor', model: 'fake', ...more });
const named = (...names: string[]): JsonObject =>
  ({ components: names.map((name) => ({ name, api: 'rdk:component:sensor', model: 'fake' })) }) as never;
const words = (before: object, after: object): string => changeWords(before as JsonObject, after as JsonObject);

test('an added component and changed attributes are told in one sentence', () => {
  const before = { components: [motor({ attributes: { max_rpm: 1, gear: 2, same: 3 } })] };
  const cam = { name: 'cam', api: 'core:component:camera', model: 'fake' };
  const after = { components: [motor({ attributes: { max_rpm: 5, same: 3, new: true } }), cam] };
  expect(words(before, after)).toBe('added component cam and changed 3 attributes of motor left');
  expect(words(after, before)).toBe('removed component cam and changed 3 attributes of motor left');
});

test.each([
  [
    'one attribute',
    { attributes: { max_rpm: 1 } },
    { attributes: { max_rpm: 2 } },
    'changed attribute max_rpm of motor left',
  ],
  ['first attributes', {}, { attributes: { a: 1, b: 2 } }, 'changed 2 attributes of motor left'],
  [
    'attributes that are no object',
    { attributes: { a: 1 } },
    { attributes: 7 },
    'changed the attributes of motor left',
  ],
  ['capture', {}, { service_configs: [{}] }, 'changed what is captured of motor left'],
  ['disabling', {}, { disabled: true }, 'disabled motor left'],
  ['enabling', { disabled: true }, { disabled: false }, 'enabled motor left'],
  ['other keys', { model: 'a' }, { model: 'b', depends_on: ['x'] }, 'changed model and depends_on of motor left'],
])('%s', (_, before, after, said) => {
  expect(words({ components: [motor(before)] }, { components: [motor(after)] })).toBe(said);
});

test('many entries are counted, and some of them named', () => {
  expect(words({}, named('a', 'b'))).toBe('added 2 components: a and b');
  expect(words({}, named('a', 'b', 'c', 'd'))).toBe('added 4 components: a, b, c and d');
  expect(words({}, named('a', 'b', 'c', 'd', 'e'))).toBe('added 5 components: a, b, c and 2 more');
});

test('a renamed entry is neither added nor removed, and one of another type is both', () => {
  expect(words(named('a'), named('b'))).toBe('renamed sensor a to b');
  expect(words({ components: [motor()] }, { components: [motor({ api: 'rdk:component:servo' })] })).toBe(
    'added component left and removed component left',
  );
});

test('what else the document has is told by its key; fragments by their ids', () => {
  const before = { log: [], debug: true, fragments: ['f-1'] };
  const after = { log: [{}], network: {}, fragments: ['f-1', { id: 'f-2' }] };
  expect(words(before, after)).toBe('added fragment f-2, changed log, removed debug and added network');
  expect(words({ fragments: [{ id: 'f', version: '1' }] }, { fragments: [{ id: 'f', version: '2' }] })).toBe(
    'changed version of fragment f',
  );
});

test('a change that no card shows is told, too', () => {
  expect(words(named('a', 'b'), named('b', 'a'))).toBe('changed the order of components');
  expect(words(named('a'), named('a'))).toBe('changed only how it is written');
  expect(words({ components: 7 }, { components: 8 })).toBe('changed components');
  expect(words({ components: [7] }, { components: [8] })).toBe('changed components');
});

test('names are cut, on one line, and do not turn the sentence around', () => {
  expect(words({}, named('x'.repeat(10_000))).length).toBeLessThan(100);
  expect(words({}, named('a\nb'))).toBe('added component a b');
  expect(words({}, named('حرارة'))).toBe('added component \u2068حرارة\u2069');
  expect(words({}, named('\u202Egnol'))).toBe('added component \u2068gnol\u2069');
  expect(words({}, named('twin', 'twin'))).toBe('added 2 components: twin and twin');
  expect(words({}, { components: [{ api: 'x' }] })).toBe('added component without a name');
});
