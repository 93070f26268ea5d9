/** Verifies our webhook signatures with the npm package `standardwebhooks`, which receivers use. */
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { sign } from '../../apps/cloud/src/outbox/webhook/sign.ts';

const secret = `whsec_${Buffer.alloc(32, 0xa5).toString('base64')}`;
const nowSeconds = (): number => Math.floor(Date.now() / 1_000);

const headers = (id: string, timestamp: number, signature: string): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': signature,
});

test('D23 standardwebhooks accepts our signatures, whatever the body contains', () => {
  const keys = fc.uint8Array({ minLength: 24, maxLength: 64 });
  fc.assert(
    fc.property(keys, fc.json(), fc.uuid(), (key, body, id) => {
      const own = `whsec_${Buffer.from(key).toString('base64')}`;
      const timestamp = nowSeconds();
      const signed = headers(`msg_${id}`, timestamp, sign(own, `msg_${id}`, timestamp, body));
      expect(new Webhook(own).verify(body, signed)).toEqual(JSON.parse(body));
    }),
  );
});

test('D22 a request without a body is signed too', () => {
  const timestamp = nowSeconds();
  const signed = headers('msg_1', timestamp, sign(secret, 'msg_1', timestamp, ''));
  expect(new Webhook(secret).verify('', signed)).toBe(undefined);
});

test.each([
  ['another body', 'msg_1', 0, '{"a":2}'],
  ['another id', 'msg_2', 0, '{"a":1}'],
  ['another time', 'msg_1', 1, '{"a":1}'],
])('D23 %s than the signed one is refused', (_what, id, laterSeconds, body) => {
  const timestamp = nowSeconds();
  const signed = headers(id, timestamp + laterSeconds, sign(secret, 'msg_1', timestamp, '{"a":1}'));
  expect(() => new Webhook(secret).verify(body, signed)).toThrow('No matching signature');
});

test('D23 another secret is refused', () => {
  const timestamp = nowSeconds();
  const other = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  const signed = headers('msg_1', timestamp, sign(other, 'msg_1', timestamp, '{}'));
  expect(() => new Webhook(secret).verify('{}', signed)).toThrow('No matching signature');
});
