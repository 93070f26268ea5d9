import fc from 'fast-check';
import { expect, test } from 'vitest';
import { repeatedKeys } from './repeated-keys.ts';

const pathsIn = (text: string): string[] => repeatedKeys(text, JSON.parse(text)).map(({ path }) => path);

test('a text made by JSON.stringify has no repeated key, whatever its keys and texts are', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      expect(pathsIn(JSON.stringify(value))).toEqual([]);
    }),
  );
  expect(pathsIn('{"a": ":", "b\\":": {"a": [{"a": 1}, {"a": ":\\\\"}]}}')).toEqual([]);
});

test('a repeated key is found anywhere, even with escapes or named __proto__', () => {
  expect(pathsIn('{"a": 1, "a": 1}')).toEqual(['a']);
  expect(pathsIn('[{"b": {"a": 1, "\\u0061": {}}, "c": ":"}]')).toEqual(['[0].b.a']);
  expect(pathsIn('{"__proto__": 1, "x": 2, "__proto__": 3}')).toEqual(['__proto__']);
});
