/** Webhook signatures, checked by the public library of Standard Webhooks. */
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { enqueueWebhooks, openOutboxRig, until, webhookSecret } from '../testing/open-outbox.ts';
import { webhookMessage } from '../testing/webhook-message.ts';

const formerSecret = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
const otherSecret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;

interface Received {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A webhook as received, at the time of the receiver's clock, because the library allows a difference of five minutes. */
async function received(secrets: readonly string[]): Promise<Received> {
  const on = await openOutboxRig();
  on.clock.setWall(Date.now());
  const outbox = on.open({ signingSecrets: async () => secrets });
  outbox.start();
  await enqueueWebhooks(on, outbox, webhookMessage(1, `${on.sink.url}/test-inbox/webhooks/a`));
  await until(() => on.sink.requests.length === 1);
  const [request] = on.sink.requests;
  return { body: request?.body ?? '', headers: { ...request?.headers } as Record<string, string> };
}

const accepts = (secret: string, { body, headers }: Received): unknown => new Webhook(secret).verify(body, headers);

test('the public library accepts a webhook; during an overlap with both the new and the former secret', async () => {
  const single = await received([webhookSecret]);
  expect(accepts(webhookSecret, single)).toEqual(JSON.parse(single.body));
  expect(() => accepts(otherSecret, single)).toThrow(/signature/);
  const rotated = await received([webhookSecret, formerSecret]);
  expect(rotated.headers['webhook-signature']?.split(' ')).toHaveLength(2);
  for (const secret of [webhookSecret, formerSecret])
    expect(accepts(secret, rotated)).toEqual(JSON.parse(rotated.body));
  expect(() => accepts(otherSecret, rotated)).toThrow(/signature/);
});

test('the public library rejects 20 kinds of tampering', async () => {
  const sent = await received([webhookSecret]);
  const { body, headers } = sent;
  const { 'webhook-id': id = '', 'webhook-timestamp': time = '', 'webhook-signature': signature = '' } = headers;
  const withHeaders = (changed: Record<string, string | undefined>): Received => ({
    body,
    headers: Object.fromEntries(
      Object.entries({ ...headers, ...changed }).filter(([, value]) => value !== undefined),
    ) as Record<string, string>,
  });
  const withBody = (changed: string): Received => ({ body: changed, headers });
  const value = signature.slice('v1,'.length);
  const tamperings: Record<string, Received> = {
    'a value of the body': withBody(body.replace('cpu', 'gpu')),
    'a key of the body': withBody(body.replace('"component_name"', '"component_type"')),
    'a byte more': withBody(`${body} `),
    'a byte less': withBody(body.slice(0, -1)),
    'no body': withBody(''),
    'the same JSON, written differently': withBody(JSON.stringify(JSON.parse(body), null, 1)),
    'the same JSON in another order': withBody(
      JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(body)).reverse())),
    ),
    'another body': withBody('{"forged":true}'),
    'another id': withHeaders({ 'webhook-id': id.replace(/.$/, (last) => (last === '0' ? '1' : '0')) }),
    'a longer id': withHeaders({ 'webhook-id': `${id}.1` }),
    'no id': withHeaders({ 'webhook-id': undefined }),
    'a later time': withHeaders({ 'webhook-timestamp': String(Number(time) + 1) }),
    'an earlier time': withHeaders({ 'webhook-timestamp': String(Number(time) - 1) }),
    'no time': withHeaders({ 'webhook-timestamp': undefined }),
    'a time that is not a number': withHeaders({ 'webhook-timestamp': 'now' }),
    'no signature': withHeaders({ 'webhook-signature': undefined }),
    'an empty signature': withHeaders({ 'webhook-signature': 'v1,' }),
    'a signature with one character changed': withHeaders({
      'webhook-signature': `v1,${value.startsWith('A') ? 'B' : 'A'}${value.slice(1)}`,
    }),
    'a shortened signature': withHeaders({ 'webhook-signature': `v1,${value.slice(0, 20)}` }),
    'a signature of an unknown version': withHeaders({ 'webhook-signature': `v9,${value}` }),
  };
  expect(Object.keys(tamperings)).toHaveLength(20);
  for (const [what, tampered] of Object.entries(tamperings))
    expect(() => accepts(webhookSecret, tampered), what).toThrow();
  expect(accepts(webhookSecret, sent)).toBeTruthy();
});

test('the public library rejects a webhook that is replayed ten minutes later', async () => {
  const { body, headers } = await received([webhookSecret]);
  const then = Date.now;
  try {
    Date.now = () => then() + 600_000;
    expect(() => accepts(webhookSecret, { body, headers })).toThrow(/too old/);
  } finally {
    Date.now = then;
  }
});
