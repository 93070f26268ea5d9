import { expect, test } from 'vitest';
import { checkedEmail } from './checked-email.ts';

test('an address is trimmed and in lower case', () => {
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
