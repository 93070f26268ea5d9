/** Credentials to token, and token to principal, for every call. */
import { type Clock, PlatformError } from '@platform/base';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Database } from '../metadata/tables.ts';
import { issueToken, readToken } from './access-token.ts';
import { checkKey, grantsOfKey } from './keys.ts';
import type { Principal } from './principal.ts';

/** How long a principal is believed without asking the store: revocation is effective within this time (D5: 5 s). */
const principalTtlMs = 2_000;
const maxCachedPrincipals = 20_000;

/** What machines know of their secrets; the machines feature answers. */
export interface PartSecrets {
  /** The epoch of the part if the secret is one of its living ones. */
  check(partId: string, secret: string): Promise<number | undefined>;
  /** Whether a token of this epoch still stands. */
  isCurrent(partId: string, epoch: number): Promise<boolean>;
}

export interface Authenticator {
  /** Exchanges credentials for a token. @throws permission_denied for wrong ones (as the public system does), invalid_argument */
  signIn(entity: string, type: string, payload: string): Promise<string>;
  /** The principal behind an `authorization` header. @throws unauthenticated */
  principalOf(metadata: Headers): Promise<Principal>;
  /** The principal behind a key id and key, as the configuration endpoint takes them. @throws unauthenticated */
  principalOfKey(keyId: string, key: string): Promise<Principal>;
}

export function createAuthenticator(deps: {
  db: Database;
  instanceKey: InstanceKey;
  partSecrets: PartSecrets;
  clock: Clock;
}): Authenticator {
  const { db, instanceKey, partSecrets, clock } = deps;
  const cache = new Map<string, { principal: Principal; untilMs: number }>();

  const signIn = async (entity: string, type: string, payload: string): Promise<string> => {
    if (type === 'api-key') {
      const epoch = await checkKey(db, instanceKey, entity, payload);
      if (epoch !== undefined) return issueToken(instanceKey, { kind: 'key', id: entity, epoch });
      throw new PlatformError('permission_denied', wrongKey(entity));
    }
    if (type === 'robot-secret') {
      const epoch = await partSecrets.check(entity, payload);
      if (epoch !== undefined) return issueToken(instanceKey, { kind: 'part', id: entity, epoch });
      throw new PlatformError(
        'permission_denied',
        `part ${shown(entity)}: expected one of its secrets, found another, or an unknown part`,
      );
    }
    throw new PlatformError(
      'invalid_argument',
      `credentials: expected type "api-key" or "robot-secret", found ${shown(type)}`,
    );
  };

  const look = async (token: string): Promise<Principal> => {
    const claims = readToken(instanceKey, token);
    if (claims === undefined)
      throw new PlatformError(
        'unauthenticated',
        'authorization: expected a token that Authenticate of this installation returned',
      );
    if (claims.kind === 'part') {
      if (await partSecrets.isCurrent(claims.id, claims.epoch)) return { kind: 'part', partId: claims.id };
    } else {
      const grants = await grantsOfKey(db, claims.id, claims.epoch);
      if (grants !== undefined) return { kind: 'key', keyId: claims.id, grants };
    }
    throw new PlatformError(
      'unauthenticated',
      'authorization: the secret behind this token was revoked or rotated; sign in again',
    );
  };

  const principalOfToken = async (token: string): Promise<Principal> => {
    const now = clock.monotonic();
    const cached = cache.get(token);
    if (cached !== undefined && cached.untilMs > now) return cached.principal;
    const principal = await look(token);
    if (cache.size >= maxCachedPrincipals) cache.clear();
    cache.set(token, { principal, untilMs: now + principalTtlMs });
    return principal;
  };

  return {
    signIn,
    async principalOf(metadata) {
      const header = metadata.get('authorization') ?? '';
      const token = /^bearer +(\S+)$/i.exec(header)?.[1];
      if (token === undefined) {
        throw new PlatformError(
          'unauthenticated',
          `authorization: expected "Bearer <token>", found ${header === '' ? 'no such header' : 'something else'}. Call proto.rpc.v1.AuthService/Authenticate first`,
        );
      }
      return principalOfToken(token);
    },
    async principalOfKey(keyId, key) {
      const epoch = await checkKey(db, instanceKey, keyId, key);
      if (epoch === undefined) throw new PlatformError('unauthenticated', wrongKey(keyId));
      return principalOfToken(issueToken(instanceKey, { kind: 'key', id: keyId, epoch }));
    },
  };
}

function shown(text: string): string {
  return text === '' ? '(empty)' : JSON.stringify(text.slice(0, 64));
}

function wrongKey(keyId: string): string {
  return `API key ${shown(keyId)}: expected the key that belongs to this id, found another, a revoked one, or an unknown id`;
}
