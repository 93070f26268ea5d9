import { expect, test } from 'vitest';
import { parseJson } from './input.ts';

test('a mistake in JSON is named with its line and column, from 1', () => {
  const mistake = (text: string): string => {
    try {
      return JSON.stringify(parseJson(text, 'vm.json'));
    } catch (caught) {
      return (caught as Error).message;
    }
  };
  expect(mistake('{"a": [1, 2]}')).toBe('{"a":[1,2]}');
  expect(mistake('{\n  "components": [,\n    {}\n  ]\n}')).toBe(
    String.raw`vm.json: expected JSON, found a mistake: line 2, column 18: expected a value, found ",\n    {}\n  ]\n}"`,
  );
  expect(mistake('{\n  "a": 1\n  "b": 2\n}')).toContain('line 3, column 3: expected "," or "}", found');
  expect(mistake('{"a": 1')).toContain('line 1, column 8: expected "," or "}", found the end of the text');
  expect(mistake('')).toContain('line 1, column 1: expected a value, found the end of the text');
});
