/**
 * Access tokens: opaque to clients, checked against the living state of what they name at every call (D5).
 *
 * A token names its key, part or session and the epoch of the secret behind it, and is signed with the instance key. It has
 * no expiry of its own, because public clients fetch one and never refresh: it stops when what it names does.
 */
import type { InstanceKey } from '../instance/instance-key.ts';

export interface TokenClaims {
  readonly kind: 'key' | 'part' | 'session';
  readonly id: string;
  readonly epoch: number;
}

export function issueToken(instanceKey: InstanceKey, claims: TokenClaims): string {
  const body = Buffer.from(JSON.stringify([claims.kind, claims.id, claims.epoch])).toString('base64url');
  return `pt1.${body}.${instanceKey.sign(`token ${body}`)}`;
}

/** The claims of a token that we signed; undefined for anything else. */
export function readToken(instanceKey: InstanceKey, token: string): TokenClaims | undefined {
  const [version, body, signature, ...rest] = token.split('.');
  if (version !== 'pt1' || body === undefined || signature === undefined || rest.length > 0) return undefined;
  if (!instanceKey.verify(`token ${body}`, signature)) return undefined;
  const [kind, id, epoch] = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
  return { kind, id, epoch };
}
