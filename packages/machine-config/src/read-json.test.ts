import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readJson } from './read-json.ts';

/** The value that was read, or the message. */
const read = (text: string): unknown => {
  const found = readJson(text);
  return found.kind === 'read' ? found.document : found.message;
};

test('a text is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), fc.constantFrom(undefined, 1, '\t'), (text, indent) => {
      const written = JSON.stringify(JSON.parse(text), undefined, indent);
      expect(read(written)).toEqual(JSON.parse(written));
    }),
  );
  expect(read('\uFEFF{"a": [1.5e3, -0, true, null, "\\u00e9\\n"]}')).toEqual({ a: [1500, -0, true, null, 'é\n'] });
});

test('what JSON.parse refuses is refused, and nothing else', () => {
  const parsed = (text: string): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      return 'refused';
    }
  };
  const piece = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"',
    '\\',
    '1',
    '-',
    '0',
    '.',
    'e',
    'true',
    ' ',
    '\n',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join('');
      const found = readJson(text);
      expect(found.kind === 'read' ? found.document : 'refused').toEqual(parsed(text));
    }),
    { numRuns: 2_000 },
  );
});

test('a mistake is reported with its line and column', () => {
  expect(read('')).toBe('line 1, column 1: expected a value, found the end of the file');
  expect(read('{\r\n  "a": 1\r\n  "b": 2\r\n}')).toBe('line 3, column 3: expected "," or "}", found "\\""');
  expect(read('\uFEFF{a: 1}')).toBe('line 1, column 2: expected a key in quotes, found "a"');
  expect(read('[1, 2,]')).toBe('line 1, column 7: expected a value, found "]"');
  expect(read('{} {}')).toBe('line 1, column 4: expected the end of the file, found "{"');
  expect(read('{"a": "b\n"}')).toBe(
    'line 1, column 7: expected a string that ends on its line, without control characters',
  );
  expect(read('["\\q"]')).toBe('line 1, column 2: expected a string with valid escapes, such as \\n or \\u00e9');
  expect(read('['.repeat(100_000))).toBe('line 1, column 202: expected at most 200 levels, found more');
});

test('a key that appears twice is a problem at its path; every path has a place, or else that of the enclosing value', () => {
  const text = '{\n  "components": [\n    {"name": "a"},\n    {"name": "b",\n     "name": "c"}\n  ]\n}';
  const found = readJson(text);
  if (found.kind === 'invalid') throw new Error(found.message);
  expect(found.document).toEqual({ components: [{ name: 'a' }, { name: 'c' }] });
  const message = 'expected each key once, found it again (line 5, column 6): only the last one would count';
  expect(found.problems).toEqual([{ path: 'components[1].name', level: 'error', message }]);
  const places = ['components[1].name', 'components[1].api', 'components[0]', 'components', 'services[3].a', '$'];
  expect(places.map(found.placeOf)).toEqual([
    'line 5, column 14',
    'line 4, column 5',
    'line 3, column 5',
    'line 2, column 17',
    'line 1, column 1',
    'line 1, column 1',
  ]);
});
