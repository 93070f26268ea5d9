import { expect, test } from 'vitest';
import { requireReadableJson } from './readable-json.ts';

test('JSON that clients could not read back is refused with its path, and everything else passes', () => {
  const unreadable: readonly (readonly [unknown, RegExp])[] = [
    [{ a: [1, { b: Number.NaN }] }, /^data: \$\.a\[1\]\.b: expected a finite number, found NaN/],
    [JSON.parse('{"a": 1e999}'), /\$\.a: expected a finite number, found Infinity/],
    [JSON.parse('["\\ud800"]'), /\$\[0\]: expected text in whole characters/],
    [JSON.parse('{"x": {"\\udc00": 1}}'), /\$\.x: expected keys in whole characters, found "\\udc00"/],
  ];
  for (const [value, words] of unreadable) expect(() => requireReadableJson(value, 'data')).toThrow(words);
  const fine = { text: 'ü \u0000 🤖', number: -1e308, nothing: null, yes: true, list: [{}, []], ['__proto__']: 1 };
  expect(() => requireReadableJson(fine, 'data')).not.toThrow();
});
