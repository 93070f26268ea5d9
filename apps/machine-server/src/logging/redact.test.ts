import type { LogLine } from '@platform/base';
import { expect, test } from 'vitest';
import { Redactor, redactText } from './redact.ts';

function line(message: string, fields: LogLine['fields'] = {}): LogLine {
  return { timeMs: 0, level: 'info', logger: 'a', message, fields };
}

test('known secrets are removed from messages and fields, wherever they occur; a newer set of one source replaces the older', () => {
  const redactor = new Redactor();
  redactor.hide('credentials', ['s3cr.t+1', 's3cr.t+1-long']);
  redactor.hide('environment', ['12', 'hunter22']);
  expect(redactor.line(line('a s3cr.t+1-long b s3cr.t+1 12', { list: [{ text: 'xhunter22x' }], n: 12 }))).toEqual(
    line('a ******** b ******** 12', { list: [{ text: 'x********x' }], n: 12 }),
  );
  // Too short to search for in texts, but known.
  expect([redactor.isSecret('12'), redactor.isSecret('120'), redactor.isSecret('')]).toEqual([true, false, false]);
  redactor.hide('environment', []);
  expect(redactor.text('hunter22 s3cr.t+1')).toBe('hunter22 ********');
});

test('fields whose keys look secret are masked at any depth; a field that is not JSON does not fail its line', () => {
  const redactor = new Redactor();
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  const fields = {
    password: 'p',
    mqtt: { api_key: 7, host: 'h' },
    error: new Error('token=abc failed'),
    cycle,
    big: 5n,
    none: undefined,
  };
  expect(redactor.line(line('m', fields)).fields).toEqual({
    password: '********',
    mqtt: { api_key: '********', host: 'h' },
    error: 'token=******** failed',
    cycle: expect.stringContaining('not JSON: '),
    big: 5n,
    none: undefined,
  });
});

test('D50 texts that look like secrets are removed; ordinary texts, and words that are misspelt, stay unchanged', () => {
  for (const [text, redacted] of [
    ['connect mqtt://user:pw@host/topic', 'connect mqtt://user:********@host/topic'],
    ['postgres://u:p@ss@db:5432/x?a=b', 'postgres://u:********@db:5432/x?a=b'],
    ['GET https://h/x?token=abc&n=1', 'GET https://h/x?token=********&n=1'],
    ['DB_PASSWORD="a b" USER=me', 'DB_PASSWORD=******** USER=me'],
    ['{"api_key": "k\\"1", "n": 2}', '{"api_key": ********, "n": 2}'],
    ['attributes.password: expected text, found 12345', 'attributes.password: expected text, found ********'],
    ['at "cloud.secret", found "a b"; and', 'at "cloud.secret", found ********; and'],
    ['authorization: Bearer abcdefgh.ijk', 'authorization: Bearer ********'],
    [
      '-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----',
      '-----BEGIN PRIVATE KEY-----********-----END PRIVATE KEY-----',
    ],
  ])
    expect(redactText(text as string)).toBe(redacted);
  for (const text of [
    'serving https://host:8080/a?mail=a@b',
    'auth.handlers[0].type: expected a handler of type api-key, found "api-kye": it is ignored',
    'attributes.api_keys: expected one of api_key, host, found "api_keys" (closest: api_key): this key has no effect',
    'the token expired',
    'expected "cloud.secret", or "cloud.api_key", found none',
    'http://[::1]:80',
    'ssh://git@host/x',
  ])
    expect(redactText(text)).toBe(text);
});

test('redacting a long text takes linear time', () => {
  const redactor = new Redactor();
  redactor.hide('a', ['secret-value']);
  const took = (count: number): number => {
    const texts = ['//:', 'secret', 'secret found ', 'token"', 'Bearer ', 'eyJ', '-----BEGIN PRIVATE KEY-----', 'a@'];
    const startMs = performance.now();
    for (const text of texts) redactor.text(text.repeat(count));
    return performance.now() - startMs;
  };
  took(1_000);
  const [short, long] = [took(2_000), took(20_000)];
  // Quadratic time would be 100 times as long; the limit allows for other load on this computer.
  expect(long).toBeLessThan(Math.max(50 * short, 500));
});

test('a line is redacted as fast with 20,000 secrets that begin alike as with one', () => {
  const took = (count: number): number => {
    const redactor = new Redactor();
    redactor.hide(
      'a',
      Array.from({ length: count }, (_, at) => `secret number ${at}`),
    );
    const startMs = performance.now();
    for (let line = 0; line < 1_000; line++)
      expect(redactor.text(`line ${line}: secret number ${count - 1} of the door`)).toBe(
        `line ${line}: ******** of the door`,
      );
    return performance.now() - startMs;
  };
  took(1);
  const [one, many] = [took(1), took(20_000)];
  // Other load on this computer may make either one slower.
  expect(many).toBeLessThan(Math.max(20 * one, 500));
});
