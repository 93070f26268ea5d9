import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseJson, parseSaved, readInput } from './input.ts';

test('a mistake in JSON is reported with its line and column, from 1', () => {
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

test('a file in UTF-8 is read without its byte order mark; other bytes are refused, not replaced', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'platform-input-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'vm.json');
  writeFileSync(file, '\uFEFF{"name": "é"}');
  expect(parseJson(await readInput(file, process), file)).toEqual({ name: 'é' });
  writeFileSync(file, Buffer.from('{"name": "é"}', 'latin1'));
  await expect(readInput(file, process)).rejects.toThrow(`${file}: expected text in UTF-8, found other bytes`);
});

test('a document to be saved must contain each key only once', () => {
  expect(parseSaved('{"a": 1, "b": {"a": 2}}', 'x.json')).toEqual({ a: 1, b: { a: 2 } });
  expect(() => parseSaved('{"a": 1,\n "a": 2}', 'x.json')).toThrow('x.json: line 2, column 2: expected each key once');
});
