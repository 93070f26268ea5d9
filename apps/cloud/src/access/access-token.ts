/**
 * Access tokens: opaque to clients; each call checks them against the current state of the key, part or session (D5).
 *
 * A token names a key, part or session and the epoch of its secret, and is signed with the instance key. It has no expiry, because public
 * clients fetch a token once and never refresh it: it ends when the key, part or session ends.
 */
import type { InstanceKey } from '../instance/instance-key.ts';

export interface TokenClaims {
  /** `session`: of a command line. `browser`: of a browser, which has it in two halves. */
  readonly kind: 'key' | 'part' | 'session' | 'browser';
  readonly id: string;
  readonly epoch: number;
}

export function issueToken(instanceKey: InstanceKey, claims: TokenClaims): string {
  const body = Buffer.from(JSON.stringify([claims.kind, claims.id, claims.epoch])).toString('base64url');
  return `pt1.${body}.${instanceKey.sign(`token ${body}`)}`;
}

/**
 * The halves of a browser's token (D49): browsers send the cookie to every port of a host, so that it alone must open nothing. Only our own
 * pages have the secret, which is the signature of the cookie.
 */
export interface TokenHalves {
  readonly cookie: string;
  readonly secret: string;
}

export function halvesOf(token: string): TokenHalves {
  const [, cookie = '', secret = ''] = token.split('.');
  return { cookie, secret };
}

export function joinHalves({ cookie, secret }: TokenHalves): string {
  return `pt1.${cookie}.${secret}`;
}

/** The claims of a token that we signed; undefined for anything else. */
export function readToken(instanceKey: InstanceKey, token: string): TokenClaims | undefined {
  const [version, body, signature, ...rest] = token.split('.');
  if (version !== 'pt1' || body === undefined || signature === undefined || rest.length > 0) return undefined;
  if (!instanceKey.verify(`token ${body}`, signature)) return undefined;
  const [kind, id, epoch] = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
  return { kind, id, epoch };
}
