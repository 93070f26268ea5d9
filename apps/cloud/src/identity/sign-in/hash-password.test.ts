import { argon2Sync } from 'node:crypto';
import { expect, test } from 'vitest';
import { checkedPassword, checkPassword, hashPassword } from './hash-password.ts';

test('D30 a password is stored as salted argon2id with 19 MiB, 2 passes and 1 lane, and is recognised later', async () => {
  const stored = await hashPassword('correct horse battery');
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(await hashPassword('correct horse battery')).not.toBe(stored);
  expect(await checkPassword('correct horse battery', stored)).toEqual({ right: true, stale: false });
  expect(await checkPassword('correct horse batterz', stored)).toEqual({ right: false, stale: false });
  expect(await checkPassword('correct horse battery', undefined)).toEqual({ right: false, stale: false });
});

test('a hash with other parameters still verifies, and is reported as outdated', async () => {
  const salt = Buffer.alloc(16, 7);
  const tag = argon2Sync('argon2id', {
    message: 'correct horse battery',
    nonce: salt,
    parallelism: 1,
    tagLength: 32,
    memory: 8_192,
    passes: 1,
  });
  const text = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
  const stored = `$argon2id$v=19$m=8192,t=1,p=1$${text(salt)}$${text(tag)}`;
  expect(await checkPassword('correct horse battery', stored)).toEqual({ right: true, stale: true });
  expect(await checkPassword('another', stored)).toEqual({ right: false, stale: false });
});

test.each([
  ['too short', 'ninechars'],
  ['over 1 kB', 'ä'.repeat(513)],
])('a password that is %s is refused without being repeated', (_what, password) => {
  expect(() => checkedPassword(password)).toThrow(/^password: expected at (least|most)/);
  expect(() => checkedPassword(password)).not.toThrow(password);
});

test('composed and decomposed Unicode forms of a password are the same password', async () => {
  const stored = await hashPassword('pässwörter'.normalize('NFC'));
  expect((await checkPassword('pässwörter'.normalize('NFD'), stored)).right).toBe(true);
});
