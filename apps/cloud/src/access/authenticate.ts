/** Exchanges credentials for a token, and resolves a token to its principal on every call. */
import {
  type Clock,
  type CodeName,
  deletedMachineText,
  deletedPlaceText,
  invalidArgument,
  PlatformError,
  permissionDenied,
  unauthenticated,
} from '@platform/base';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { RowWatch } from '../metadata/row-checks/row-watch.ts';
import type { Database } from '../metadata/tables.ts';
import { issueToken, readToken } from './access-token.ts';
import { issueTicket, readTicket } from './caller-ticket.ts';
import { grantsOfIdentity } from './grants.ts';
import type { GuessLimit } from './guess-limit.ts';
import { checkKey, keySince, validKey } from './keys.ts';
import type { PartSecrets, SessionPort, SharesPort } from './ports.ts';
import { type Grant, isOnWhole, organizationsOf, type Principal } from './principal.ts';
import { grants } from './store.ts';
import { proven } from './too-many-guesses.ts';

/** How long a principal is cached without asking the store; limits how long a revoked one still works (D5, R16: 5 s). */
const principalTtlMs = 2_000;
const maxCachedPrincipals = 20_000;

export interface Credentials {
  /** Id of the API key or part; any text for `access-token`. */
  readonly entity: string;
  readonly type: string;
  readonly payload: string;
}

export interface Authenticator {
  /**
   * Exchanges credentials for a token.
   * @param peerAddress of the call.
   *
   * @throws permission_denied for wrong ones (like the public system), resource_exhausted after too many, invalid_argument
   */
  signIn(credentials: Credentials, peerAddress: string): Promise<string>;
  /** The principal behind an `authorization` header, with its current roles. @throws unauthenticated */
  principalOf(metadata: Headers): Promise<Principal>;
  /** The principal behind one of our tokens. @throws unauthenticated */
  principalOfToken(token: string): Promise<Principal>;
  /** The principal behind a key id and key, as sent to the configuration endpoint. @throws unauthenticated, resource_exhausted */
  principalOfKey(keyId: string, key: string, peerAddress: string): Promise<Principal>;
  /**
   * The current principal of a call. An open stream asks every 2 s and authorizes again with the answer, so that it ends within 5 s of a
   * revocation (R16). Cheap: answers are cached for 2 s. @throws unauthenticated
   */
  recheck(call: { readonly metadata: Headers }): Promise<Principal>;
  /**
   * The current principal for a key, person or session. Use it for something issued in that name at `sinceMs` that must end with its
   * rights. A person is accepted even without a session. Undefined if the key or session ended, or if the secret that the key had then no
   * longer works.
   */
  standing(
    named: { readonly kind: 'key' | 'person' | 'session'; readonly id: string },
    sinceMs: number,
  ): Promise<Principal | undefined>;
  /** What a machine gets about the caller of a connection to this part that does not go through the cloud. @throws unauthenticated */
  ticketOf(call: { readonly metadata: Headers }, partId: string): Uint8Array;
  /**
   * The current principal of a ticket, as `recheck` finds that of a call. Undefined: the ticket is not one for this part, or its key or
   * session has ended. Cheap: answers are cached for 2 s.
   */
  principalOfTicket(ticket: Uint8Array, partId: string): Promise<Principal | undefined>;
  /** Must be called after a commit that changed keys, roles, sessions or sharing: all following calls then see the change. */
  forget(): void;
}

/** Why a token is refused, by what it belongs to: people sign in again, programs do so by themselves if they can. */
const endedSession = 'the session behind this token ended (signed out, deleted or expired); sign in again';
const endedText = {
  session: endedSession,
  browser: endedSession,
  key: 'the API key behind this token ended (deleted, rotated out or expired); use another key',
  part: 'the secret behind this token does not work any more: the machine was deleted, or its secret was rotated out',
} as const;

export function createAuthenticator(deps: {
  db: Database;
  rows: Pick<RowWatch, 'requireComplete'>;
  /** @throws data_loss when rows that decide what these organizations see are damaged */
  requirePlaces: (organizationIds: readonly string[]) => Promise<void>;
  instanceKey: InstanceKey;
  partSecrets: PartSecrets;
  sessions: SessionPort;
  shares: SharesPort;
  guesses: GuessLimit;
  clock: Clock;
  /** Called when a key is used, at most once in 2 s for each token. */
  keyUsed: (keyId: string) => void;
}): Authenticator {
  const { db, rows, requirePlaces, instanceKey, partSecrets, sessions, shares, guesses, clock, keyUsed } = deps;
  let cache = new Map<string, { principal: Promise<Principal>; untilMs: number }>();

  const keyEpoch = async (id: string, secret: string, peerAddress: string, code: CodeName): Promise<number> => {
    const place = partSecrets.deletedPlace(id, secret);
    if (place !== undefined)
      throw new PlatformError(
        code,
        `API key ${shown(id)}: ${place === 'machine' ? deletedMachineText : deletedPlaceText(place)}`,
      );
    return proven(
      guesses,
      { credential: id, peerAddress, kind: 'secret' },
      () => checkKey(db, instanceKey, id, secret, clock.now()),
      () => new PlatformError(code, wrongKey(id)),
    );
  };

  const signIn = async ({ entity, type, payload }: Credentials, peerAddress: string): Promise<string> => {
    if (type === 'api-key') {
      const epoch = await keyEpoch(entity, payload, peerAddress, 'permission_denied');
      return issueToken(instanceKey, { kind: 'key', id: entity, epoch });
    }
    if (type === 'robot-secret') {
      // Not a guess: the secret is right.
      if (partSecrets.deletedPlace(entity, payload) !== undefined)
        throw permissionDenied(`part ${shown(entity)}: ${deletedMachineText}`);
      const wrong = (): PlatformError =>
        permissionDenied(
          `part ${shown(entity)}: expected one of its secrets, found a wrong secret or an unknown part. If the machine was deleted, connect it again with a new line ("platform machines connect NAME")`,
        );
      const guess = { credential: entity, peerAddress, kind: 'secret' } as const;
      const epoch = await proven(guesses, guess, () => partSecrets.check(entity, payload), wrong);
      return issueToken(instanceKey, { kind: 'part', id: entity, epoch });
    }
    if (type === 'access-token') {
      await principalOfToken(payload);
      return payload;
    }
    if (type === 'robot-location-secret')
      throw invalidArgument(
        'credentials: expected type "api-key", "robot-secret" or "access-token", found "robot-location-secret": a location secret gives access to the machines of its location, not to the cloud; use it with the address of the machine',
      );
    throw invalidArgument(
      `credentials: expected type "api-key", "robot-secret" or "access-token", found ${shown(type)}`,
    );
  };

  const look = async (token: string): Promise<Principal> => {
    const claims = readToken(instanceKey, token);
    if (claims === undefined) throw notOurs();
    const { kind, id, epoch } = claims;
    if (kind === 'part') {
      if (await partSecrets.isCurrent(id, epoch)) return { kind: 'part', partId: id };
    } else if (kind === 'session' || kind === 'browser') {
      const signedIn = await sessions.personOf(id, kind === 'session' ? 'cli' : 'browser');
      if (signedIn !== undefined)
        return { kind: 'person', ...signedIn, grants: await rolesOf('person', signedIn.personId) };
    } else {
      const key = await validKey(db, id, epoch, clock.now());
      if (key !== undefined) {
        keyUsed(id);
        return { kind: 'key', keyId: id, keyName: key.name, grants: await rolesOf('api-key', id) };
      }
    }
    throw unauthenticated(`authorization: ${endedText[kind]}`);
  };

  /** The caller's own roles, and operator on each location shared with an organization in which it holds an organization-wide role (R3). */
  const rolesOf = async (type: 'api-key' | 'person', id: string): Promise<readonly Grant[]> => {
    const own: readonly Grant[] = (await grantsOfIdentity(db, { type, id })).map(
      ({ role, organizationId, locationId, robotId }) => ({ role, organizationId, locationId, robotId }),
    );
    await rows.requireComplete(grants, [id]);
    await requirePlaces(organizationsOf(own));
    const shared = organizationsOf(own.filter(isOnWhole))
      .flatMap((organizationId) => shares.sharesTo(organizationId))
      .map(
        ({ organizationId, locationId }): Grant => ({
          role: 'operator',
          organizationId,
          locationId,
          robotId: null,
          shared: true,
        }),
      );
    return [...own, ...shared];
  };

  const principalOfToken = (token: string): Promise<Principal> => {
    const now = clock.monotonic();
    const cached = cache.get(token);
    if (cached !== undefined && cached.untilMs > now) return cached.principal;
    const principal = look(token);
    if (cache.size >= maxCachedPrincipals) cache.clear();
    const mine = cache;
    mine.set(token, { principal, untilMs: now + principalTtlMs });
    // Refusals are not cached, so that invalid tokens cannot fill the cache.
    principal.catch(() => mine.delete(token));
    return principal;
  };

  const principalOf = async (metadata: Headers): Promise<Principal> => principalOfToken(bearerToken(metadata));

  return {
    signIn,
    principalOf,
    principalOfToken,
    recheck: (call) => principalOf(call.metadata),
    ticketOf({ metadata }, partId) {
      const claims = readToken(instanceKey, bearerToken(metadata));
      if (claims === undefined) throw notOurs();
      return issueTicket(instanceKey, claims, partId, clock.now());
    },
    async principalOfTicket(ticket, partId) {
      const claims = readTicket(instanceKey, ticket, partId);
      if (claims === undefined) return undefined;
      try {
        return await principalOfToken(issueToken(instanceKey, claims));
      } catch (caught) {
        if (caught instanceof PlatformError && caught.code === 'unauthenticated') return undefined;
        throw caught;
      }
    },
    forget() {
      // Replace the map instead of clearing it: a lookup that began before the change must not be cached after it.
      cache = new Map();
    },
    async standing({ kind, id }, sinceMs) {
      if (kind === 'person')
        return { kind, personId: id, sessionId: '', email: '', grants: await rolesOf('person', id) };
      if (kind === 'session') {
        const signedIn = await sessions.personWith(id);
        return signedIn && { kind: 'person', ...signedIn, grants: await rolesOf('person', signedIn.personId) };
      }
      const key = await keySince(db, id, sinceMs, clock.now());
      return key && { kind, keyId: id, keyName: key.name, grants: await rolesOf('api-key', id) };
    },
    async principalOfKey(keyId, key, peerAddress) {
      const epoch = await keyEpoch(keyId, key, peerAddress, 'unauthenticated');
      return principalOfToken(issueToken(instanceKey, { kind: 'key', id: keyId, epoch }));
    },
  };
}

/** The token in the header `authorization`. @throws unauthenticated */
function bearerToken(metadata: Headers): string {
  const header = metadata.get('authorization') ?? '';
  const token = /^bearer +(\S+)$/i.exec(header)?.[1];
  if (token !== undefined) return token;
  throw unauthenticated(
    `authorization: expected "Bearer <token>", found ${header === '' ? 'no such header' : 'something else'}. Call proto.rpc.v1.AuthService/Authenticate first`,
  );
}

function notOurs(): PlatformError {
  return unauthenticated('authorization: expected a token that Authenticate of this installation returned');
}

function shown(text: string): string {
  return text === '' ? '(empty)' : JSON.stringify(text.slice(0, 64));
}

function wrongKey(keyId: string): string {
  return `API key ${shown(keyId)}: expected the key that belongs to this id, found a wrong or ended key, or an unknown id`;
}
