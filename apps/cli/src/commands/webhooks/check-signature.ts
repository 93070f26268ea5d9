/**
 * Checks the signature of a webhook (Standard Webhooks) and, if it is invalid, says why, as far as the request and the secret show it.
 * Pure.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { jsonIn } from '@platform/base/json-in';

export interface SignedRequest {
  /** Names in lower case; several values of a name as one text with commas, as servers join them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The possible problems, in the order of the checks. */
export const problems = {
  'no-secret': 'expected the secret that signs the webhooks, found none',
  'secret-without-prefix': 'expected a secret that begins with whsec_, found one that does not',
  'secret-not-base64': 'expected whsec_ and base64, found other characters in the secret: is it complete?',
  'secret-wrong-length': 'expected a secret of 24 to 64 bytes: is it complete?',
  'no-id': 'expected the header webhook-id, found none: does a proxy remove it?',
  'malformed-id': 'expected one id without periods and spaces in webhook-id',
  'no-timestamp': 'expected the header webhook-timestamp, found none: does a proxy remove it?',
  'timestamp-not-a-number': 'expected seconds since 1970 in webhook-timestamp, found something else',
  'timestamp-in-milliseconds': 'expected seconds since 1970 in webhook-timestamp, found milliseconds',
  'no-signature': 'expected the header webhook-signature, found none: does a proxy remove it?',
  'signature-without-version': 'expected v1,<base64> in webhook-signature, found no version',
  'signature-of-other-version': 'expected a signature of version v1 in webhook-signature, found other versions only',
  'signature-in-hexadecimal': 'expected base64 in webhook-signature, found hexadecimal digits',
  'signature-not-base64': 'expected base64 in webhook-signature, found other characters',
  'signature-wrong-length': 'expected a signature of 32 bytes in webhook-signature: was it shortened?',
  'body-empty': 'the signature is for a body other than the empty one: was it read before?',
  'body-with-byte-order-mark': 'the signature is valid without the byte order mark with which the body begins',
  'body-with-added-line-end': 'the signature is valid without the line end with which the body ends',
  'body-with-changed-line-ends': 'the signature is valid with LF in place of CRLF line ends',
  'body-reformatted': 'the signature is valid for the same JSON written without spaces: verify the bytes as received',
  'secret-used-as-text': 'the signature was made with the text of the secret: decode what follows whsec_ as base64',
  'timestamp-not-signed':
    'the signature is valid without the timestamp: sign id, timestamp and body, joined by periods',
  'wrong-signature': 'the signature is for another secret, id, timestamp or body',
  'timestamp-too-old': 'the signature is valid, but the request is too old: it may be a repetition',
  'timestamp-in-the-future': 'the signature is valid, but the request is from the future: is the clock right?',
} as const;

export type SignatureProblem = keyof typeof problems;

export type Finding =
  | {
      readonly isValid: true;
      /** Which of the secrets made it, from 0. */
      readonly secret: number;
      readonly signedAtMs: number;
    }
  | { readonly isValid: false; readonly problem: SignatureProblem; readonly message: string };

export interface CheckOptions {
  /** Wall clock, ms. Absent: the age of the request does not matter. */
  readonly nowMs?: number | undefined;
  /** The maximum distance of the request's time from now. Default 5 min. */
  readonly toleranceMs?: number;
}

/** @param secrets those that are valid, as `whsec_…` */
export function checkSignature(
  request: SignedRequest,
  secrets: readonly string[],
  { nowMs, toleranceMs = 300_000 }: CheckOptions = {},
): Finding {
  const malformed = secretProblem(secrets) ?? headerProblem(request.headers);
  if (malformed !== undefined) return failed(malformed);
  const {
    'webhook-id': id = '',
    'webhook-timestamp': timestamp = '',
    'webhook-signature': header = '',
  } = request.headers;
  const signatures = versionOne(header);
  const isRight = (key: Buffer, ...parts: readonly (string | Uint8Array)[]): boolean =>
    signatures.some((signature) => isEqual(signature, mac(key, parts)));
  const keys = secrets.map(keyOf);
  const head = `${id}.${timestamp}.`;
  const secret = keys.findIndex((key) => isRight(key, head, request.body));
  if (secret < 0) return failed(reasonOf(request, secrets, (key, ...parts) => isRight(key, ...parts), id, head));
  const signedAtMs = Number(timestamp) * 1_000;
  if (nowMs !== undefined && signedAtMs < nowMs - toleranceMs) return failed('timestamp-too-old');
  if (nowMs !== undefined && signedAtMs > nowMs + toleranceMs) return failed('timestamp-in-the-future');
  return { isValid: true, secret, signedAtMs };
}

function failed(problem: SignatureProblem): Finding {
  return { isValid: false, problem, message: problems[problem] };
}

const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

function secretProblem(secrets: readonly string[]): SignatureProblem | undefined {
  if (secrets.length === 0 || secrets.includes('')) return 'no-secret';
  if (secrets.some((secret) => !secret.startsWith('whsec_'))) return 'secret-without-prefix';
  const texts = secrets.map((secret) => secret.slice('whsec_'.length));
  if (texts.some((text) => !base64.test(text))) return 'secret-not-base64';
  if (secrets.some((secret) => keyOf(secret).length < 24 || keyOf(secret).length > 64)) return 'secret-wrong-length';
  return undefined;
}

function headerProblem(headers: SignedRequest['headers']): SignatureProblem | undefined {
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', 'webhook-signature': signature = '' } = headers;
  if (id === '') return 'no-id';
  if (!/^[^\s.,]+$/.test(id)) return 'malformed-id';
  if (timestamp === '') return 'no-timestamp';
  if (!/^\d+$/.test(timestamp)) return 'timestamp-not-a-number';
  if (Number(timestamp) > 1e11) return 'timestamp-in-milliseconds';
  if (signature === '') return 'no-signature';
  const parts = signature.split(' ').filter((part) => part !== '');
  if (parts.every((part) => !part.includes(','))) return 'signature-without-version';
  const texts = parts.flatMap((part) => (part.startsWith('v1,') ? [part.slice(3)] : []));
  if (texts.length === 0) return 'signature-of-other-version';
  if (texts.every((text) => /^[0-9a-f]{64}$/i.test(text))) return 'signature-in-hexadecimal';
  if (texts.every((text) => !base64.test(text))) return 'signature-not-base64';
  if (texts.every((text) => Buffer.from(text, 'base64').length !== 32)) return 'signature-wrong-length';
  return undefined;
}

type IsRight = (key: Buffer, ...parts: readonly (string | Uint8Array)[]) => boolean;

/** Tries the mistakes that receivers and proxies usually make. */
function reasonOf(
  { body }: SignedRequest,
  secrets: readonly string[],
  isRight: IsRight,
  id: string,
  head: string,
): SignatureProblem {
  const keys = secrets.map(keyOf);
  const fits = (changed: string | Uint8Array): boolean => keys.some((key) => isRight(key, head, changed));
  const text = Buffer.from(body).toString('utf8');
  if (body.length === 0) return 'body-empty';
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf && fits(body.subarray(3)))
    return 'body-with-byte-order-mark';
  if (/\r?\n$/.test(text) && fits(text.replace(/\r?\n$/, ''))) return 'body-with-added-line-end';
  if (text.includes('\r\n') && fits(text.replaceAll('\r\n', '\n'))) return 'body-with-changed-line-ends';
  const json = jsonIn(text);
  if (json !== undefined && fits(JSON.stringify(json))) return 'body-reformatted';
  const asTexts = secrets.flatMap((secret) => [Buffer.from(secret), Buffer.from(secret.slice('whsec_'.length))]);
  if (asTexts.some((key) => isRight(key, head, body))) return 'secret-used-as-text';
  if (keys.some((key) => isRight(key, `${id}.`, body) || isRight(key, body))) return 'timestamp-not-signed';
  return 'wrong-signature';
}

function versionOne(header: string): Buffer[] {
  return header.split(' ').flatMap((part) => (part.startsWith('v1,') ? [Buffer.from(part.slice(3), 'base64')] : []));
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
}

function mac(key: Buffer, parts: readonly (string | Uint8Array)[]): Buffer {
  const hmac = createHmac('sha256', key);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

function isEqual(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
