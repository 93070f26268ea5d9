/** Standard Webhooks signatures. */
import { createHmac } from 'node:crypto';

/**
 * Value of `webhook-signature`: `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`.
 * @param secret `whsec_` and the key as base64 @param timestampSeconds Unix time of this attempt
 */
export function sign(secret: string, id: string, timestampSeconds: number, body: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`;
}
