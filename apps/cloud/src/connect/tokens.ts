/**
 * Tokens that turn another computer into a part: valid for 15 minutes; the credentials are given out once. Kept in memory: a restart of the
 * cloud ends them, and running the command again makes a new one.
 *
 * States: made → fetched (the program was downloaded) → used (the credentials were given out) → over.
 */
import { createHash, randomBytes } from 'node:crypto';
import { type Clock, PlatformError } from '@platform/base';

const lifetimeMs = 900_000;

/** Who made a token; it ends with their right. */
export interface Maker {
  readonly kind: 'key' | 'person';
  readonly id: string;
}

export interface ConnectToken {
  readonly partId: string;
  readonly maker: Maker;
  /** Wall clock, ms. */
  readonly madeMs: number;
  readonly expiresMs: number;
  /** Wall clock, ms; undefined: not yet. */
  fetchedMs: number | undefined;
  usedMs: number | undefined;
}

export interface ConnectTokens {
  /** Replaces any token that the part had. */
  create(partId: string, maker: Maker): { readonly token: string; readonly expiresMs: number };
  /** @throws not_found with instructions */
  find(token: string): ConnectToken;
}

export function createConnectTokens(clock: Pick<Clock, 'now'>): ConnectTokens {
  const tokens = new Map<string, ConnectToken>();
  const drop = (isOver: (one: ConnectToken) => boolean): void => {
    for (const [hash, one] of tokens) if (isOver(one)) tokens.delete(hash);
  };
  return {
    create(partId, maker) {
      const now = clock.now();
      drop((one) => one.partId === partId || one.expiresMs <= now);
      const token = randomBytes(24).toString('base64url');
      const expiresMs = now + lifetimeMs;
      tokens.set(hashOf(token), { partId, maker, madeMs: now, expiresMs, fetchedMs: undefined, usedMs: undefined });
      return { token, expiresMs };
    },
    find(token) {
      const found = tokens.get(hashOf(token));
      if (found !== undefined && found.expiresMs > clock.now()) return found;
      throw new PlatformError(
        'not_found',
        'connect: expected a valid token, found an unknown one, or one that is older than 15 minutes; run "platform machines connect NAME" again for a new line',
      );
    },
  };
}

/** The map holds hashes, so that a memory dump reveals no token. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
