import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { checkSignature, problems, type SignatureProblem, type SignedRequest } from './check-signature.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const former = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const body = '{"component_name":"cpu","data":{"load":7}}';

/** According to Standard Webhooks; conformance/src/cli checks the command with requests from a cloud. */
function signed(at = nowMs, given = body, by = secret): SignedRequest {
  const key = Buffer.from(by.slice(6), 'base64');
  const signature = `v1,${createHmac('sha256', key)
    .update(`msg_1.${at / 1_000}.${given}`)
    .digest('base64')}`;
  return {
    headers: { 'webhook-id': 'msg_1', 'webhook-timestamp': String(at / 1_000), 'webhook-signature': signature },
    body: Buffer.from(given),
  };
}

const withHeaders = (changed: Record<string, string>): SignedRequest => {
  const { headers, body: same } = signed();
  return { headers: { ...headers, ...changed }, body: same };
};
const withBody = (changed: string, of = signed()): SignedRequest => ({
  headers: of.headers,
  body: Buffer.from(changed),
});
const signedBy = (key: string | Buffer, content: string): SignedRequest =>
  withHeaders({ 'webhook-signature': `v1,${createHmac('sha256', key).update(content).digest('base64')}` });
const { 'webhook-signature': right = '' } = signed().headers;
const head = `msg_1.${nowMs / 1_000}.`;

const cases: Readonly<Record<SignatureProblem, readonly [SignedRequest, string]>> = {
  'no-secret': [signed(), ''],
  'secret-without-prefix': [signed(), secret.slice(6)],
  'secret-not-base64': [signed(), `${secret}…`],
  'secret-wrong-length': [signed(), 'whsec_c2hvcnQ='],
  'no-id': [withHeaders({ 'webhook-id': '' }), secret],
  'malformed-id': [withHeaders({ 'webhook-id': 'msg_1, msg_1' }), secret],
  'no-timestamp': [withHeaders({ 'webhook-timestamp': '' }), secret],
  'timestamp-not-a-number': [withHeaders({ 'webhook-timestamp': '2026-01-02T03:04:05Z' }), secret],
  'timestamp-in-milliseconds': [withHeaders({ 'webhook-timestamp': String(nowMs) }), secret],
  'no-signature': [withHeaders({ 'webhook-signature': '' }), secret],
  'signature-without-version': [withHeaders({ 'webhook-signature': right.slice(3) }), secret],
  'signature-of-other-version': [withHeaders({ 'webhook-signature': right.replace('v1', 'v9') }), secret],
  'signature-in-hexadecimal': [
    withHeaders({ 'webhook-signature': `v1,${Buffer.from(right.slice(3), 'base64').toString('hex')}` }),
    secret,
  ],
  'signature-not-base64': [withHeaders({ 'webhook-signature': 'v1,%%%' }), secret],
  'signature-wrong-length': [withHeaders({ 'webhook-signature': right.slice(0, 23) }), secret],
  'body-empty': [withBody(''), secret],
  'body-with-byte-order-mark': [withBody(`\ufeff${body}`), secret],
  'body-with-added-line-end': [withBody(`${body}\n`), secret],
  'body-with-changed-line-ends': [withBody('{\r\n}', signed(nowMs, '{\n}')), secret],
  'body-reformatted': [withBody(JSON.stringify(JSON.parse(body), null, 2)), secret],
  'secret-used-as-text': [signedBy(secret, head + body), secret],
  'timestamp-not-signed': [signedBy(Buffer.alloc(32, 7), `msg_1.${body}`), secret],
  'wrong-signature': [signed(), former],
  'timestamp-too-old': [signed(nowMs - 301_000), secret],
  'timestamp-in-the-future': [signed(nowMs + 301_000), secret],
};

test.each(Object.keys(problems) as SignatureProblem[])('the problem %s of a request is found', (problem) => {
  const [request, by] = cases[problem];
  expect(checkSignature(request, [by], { nowMs })).toMatchObject({ isValid: false, problem });
});

test('a signature by any of the valid secrets is accepted', () => {
  expect(checkSignature(signed(), [secret], { nowMs })).toEqual({ isValid: true, secret: 0, signedAtMs: nowMs });
  expect(checkSignature(signed(nowMs, body, former), [secret, former], { nowMs })).toMatchObject({ secret: 1 });
  const rotated = withHeaders({
    'webhook-signature': `${signed(nowMs, body, former).headers['webhook-signature']} ${right}`,
  });
  expect(checkSignature(rotated, [secret], { nowMs })).toMatchObject({ isValid: true });
});

test('without a current time, an old request is accepted', () => {
  expect(checkSignature(signed(0), [secret])).toMatchObject({ isValid: true, signedAtMs: 0 });
});
