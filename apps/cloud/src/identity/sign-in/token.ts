/** Random tokens of sessions, links and invitations: 256 bits, of which only the SHA-256 is stored. */
import { createHash } from 'node:crypto';
import { newSecret } from '@platform/base';

export interface NewToken {
  /** Given only to its holder. */
  readonly token: string;
  readonly hash: Uint8Array;
}

export function newToken(): NewToken {
  const token = newSecret();
  return { token, hash: hashToken(token) };
}

export function hashToken(token: string): Uint8Array {
  return createHash('sha256').update(token).digest();
}
