import { expect, test } from 'vitest';
import { checkedName } from './checked-name.ts';
import { checkedText } from './checked-text.ts';

test.each([
  'Halle 3',
  '<b>Werk</b> "Süd"',
  'مي\u200cخواهم',
  'क्\u200dष',
  '工場\u{e0100}',
  '👩\u200d🔧 workshop',
  '❤\ufe0f',
  '1\ufe0f\u20e3',
  'e\u0301',
  '-',
])('%j is a valid name', (name) => {
  expect(checkedName(name)).toBe(name);
});

test.each([
  ['Squat <b>"\u202e', 'U+202E'],
  ['a\u2066b\u2069', 'U+2066'],
  ['a\u200eb', 'U+200E'],
  ['Hal\u200ble', 'U+200B'],
  ['Hal\u00adle', 'U+00AD'],
  ['Halle\u200d', 'U+200D'],
  ['1\u200c2', 'U+200C'],
  ['\u200b', 'U+200B'],
  ['\u2060\u200d', 'U+2060'],
  ['Halle\ufe0f', 'U+FE0F'],
  ['\ufe0e', 'U+FE0E'],
  ['1\ufe0f', 'U+FE0F'],
  ['Halle\u{e0100}', 'U+E0100'],
  ['\u3164', 'U+3164'],
  ['a\u{e0041}', 'U+E0041'],
  ['a\u0000b', 'U+0000'],
  ['a\nb', 'U+000A'],
  ['a\u2028b', 'U+2028'],
  ['a\ud83d', 'U+D83D'],
])('%j is not a valid name or text: the error says what was found', (name, found) => {
  const refused = { code: 'invalid_argument', message: expect.stringContaining(`found ${found} in "`) };
  expect(() => checkedName(name)).toThrow(expect.objectContaining(refused));
  expect(() => checkedText(name, 'region', 100)).toThrow(expect.objectContaining(refused));
  // The message itself has no invisible characters.
  expect(() => checkedName(name)).toThrow(/^\P{C}*$/u);
});

test.each(['', '   ', '\u2800', '\u0301', '\u3000\u00a0', 'x'.repeat(201)])('%j is no name', (name) => {
  expect(() => checkedName(name)).toThrow(
    /^name: expected 1 to 200 characters without control characters and other invisible characters, found "/,
  );
});
