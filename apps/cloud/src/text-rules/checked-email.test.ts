import { expect, test } from 'vitest';
import { checkedEmail, normalEmail } from './checked-email.ts';

test('an address is trimmed and converted to lower case', () => {
  expect(checkedEmail('  Ada.Lovelace+work@Example.COM ')).toBe('ada.lovelace+work@example.com');
});

test.each([
  '',
  'nobody',
  'a@',
  '@b.example',
  'a@b@c.example',
  'a b@c.example',
  'a@b.example\r\nBcc: all@victims.example',
  'a@b.example\nSubject: x',
  'a@b.example, c@d.example',
  'a@b.example;c@d.example',
  '"a b"@c.example',
  'Ada <ada@c.example>',
  '<script>@c.example',
  'a@b..example',
  'a\u0000@b.example',
  'a\u202e@b.example',
  `${'a'.repeat(65)}@b.example`,
  `a@${'b'.repeat(300)}.example`,
  'x'.repeat(10_000),
])('%j is no address', (text) => {
  expect(() => checkedEmail(text)).toThrow(/^email: expected one address/);
});

test.each([
  ['\u212aate@a.example', 'U+212A, which stands for "K"'],
  ['\uff4bate@a.example', 'U+FF4B, which stands for "k"'],
  ['\ufb01ne@a.example', 'U+FB01, which stands for "fi"'],
  ['\u017fue@a.example', 'U+017F, which stands for "s"'],
  ['ada@\uff45xample.example', 'U+FF45, which stands for "e"'],
])('%j is not an address, and is not mistaken for the one that it resembles', (text, found) => {
  expect(() => checkedEmail(text)).toThrow(found);
  expect(normalEmail(text)).toBe(text);
});

test('an address with accents has one normal form, however it is typed', () => {
  for (const typed of ['\u00c9mile@a.example', 'e\u0301mile@a.example'])
    expect(checkedEmail(typed)).toBe('\u00e9mile@a.example');
});
