/**
 * Sessions of people.
 *
 * States: begun → used … → ended (by its person, by a new password, by expiry). A browser's session ends some hours after its last use, a
 * command line's some days after its beginning. The row of an ended session is deleted.
 *
 * The access token names its session by a random secret, of which only the hash is stored. A command line sends it as bearer token. A
 * browser has it in two halves, a cookie and a secret (D49).
 */
import { type Clock, newId } from '@platform/base';
import { issueToken } from '../../access/access-token.ts';
import type { SessionPort, SignedIn } from '../../access/ports.ts';
import type { InstanceKey } from '../../instance/instance-key.ts';
import { requireRight } from '../../metadata/row-checks/require-right.ts';
import type { Database } from '../../metadata/tables.ts';
import { type IdentityTables, sessions } from '../store.ts';
import { hashToken, newToken } from './token.ts';

export interface SessionSettings {
  /** How long a browser's session lasts without use. Default 12 h. */
  readonly browserIdleMs: number;
  /** How long a command line's session lasts. Default 90 days. */
  readonly cliMs: number;
}

export const defaultSessionSettings: SessionSettings = { browserIdleMs: 12 * 3_600_000, cliMs: 90 * 86_400_000 };

export type SessionKind = 'browser' | 'cli';

export interface NewSession {
  readonly sessionId: string;
  /** An access token. */
  readonly token: string;
  readonly expiresMs: number;
}

export interface ListedSession {
  readonly id: string;
  readonly kind: SessionKind;
  readonly createdMs: number;
  readonly lastUsedMs: number;
  readonly expiresMs: number;
  readonly peerAddress: string;
}

export interface Sessions extends SessionPort {
  readonly settings: SessionSettings;
  /** @param trx the transaction to which the session belongs, or the database. */
  begin(trx: Database, personId: string, kind: SessionKind, peerAddress: string): Promise<NewSession>;
  list(personId: string): Promise<readonly ListedSession[]>;
  /** Returns false if the person has no such session. */
  end(trx: Database, personId: string, sessionId: string): Promise<boolean>;
  /** Ends all of a person's sessions, except one if it is given. */
  endOthers(trx: Database, personId: string, sessionId?: string): Promise<void>;
}

/** Access tokens have an epoch. A session's epoch never changes: the session ends instead. */
const epoch = 1;
/** Minimum interval between recorded uses of a session. */
const touchMs = 60_000;

export function createSessions(deps: {
  db: Database;
  instanceKey: InstanceKey;
  clock: Clock;
  settings?: SessionSettings;
}): Sessions {
  const { db, instanceKey, clock, settings = defaultSessionSettings } = deps;
  const lifeMs = (kind: SessionKind): number => (kind === 'browser' ? settings.browserIdleMs : settings.cliMs);
  /** With the address of the person. */
  const living = (nowMs: number) =>
    db
      .selectFrom('sessions')
      .innerJoin('people', 'people.id', 'sessions.person_id')
      .selectAll('sessions')
      .select('people.email')
      .where('sessions.expires_ms', '>', nowMs);
  return {
    settings,
    async begin(trx, personId, kind, peerAddress) {
      const nowMs = clock.now();
      const sessionId = newId();
      const { token: secret, hash } = newToken();
      const expiresMs = nowMs + lifeMs(kind);
      await trx
        .insertInto('sessions')
        .values({
          id: sessionId,
          token_hash: hash,
          person_id: personId,
          kind,
          created_ms: nowMs,
          last_used_ms: nowMs,
          expires_ms: expiresMs,
          peer_address: peerAddress,
        })
        .execute();
      const token = issueToken(instanceKey, { kind: kind === 'cli' ? 'session' : kind, id: secret, epoch });
      return { sessionId, token, expiresMs };
    },
    async personOf(secret, kind) {
      const nowMs = clock.now();
      const row = await living(nowMs)
        .where('sessions.token_hash', '=', hashToken(secret))
        .where('sessions.kind', '=', kind)
        .executeTakeFirst();
      const signedIn = row && signedInOf(row);
      if (row !== undefined && nowMs - row.last_used_ms >= touchMs) {
        await db
          .updateTable('sessions')
          .set({ last_used_ms: nowMs, ...(row.kind === 'browser' && { expires_ms: nowMs + settings.browserIdleMs }) })
          .where('id', '=', row.id)
          .execute();
      }
      return signedIn;
    },
    async personWith(sessionId) {
      const row = await living(clock.now()).where('sessions.id', '=', sessionId).executeTakeFirst();
      return row && signedInOf(row);
    },
    async list(personId) {
      return db
        .selectFrom('sessions')
        .select(['id', 'kind', 'created_ms as createdMs', 'last_used_ms as lastUsedMs'])
        .select(['expires_ms as expiresMs', 'peer_address as peerAddress'])
        .where('person_id', '=', personId)
        .where('expires_ms', '>', clock.now())
        .orderBy('last_used_ms', 'desc')
        .execute();
    },
    async end(trx, personId, sessionId) {
      const ended = await trx
        .deleteFrom('sessions')
        .where('id', '=', sessionId)
        .where('person_id', '=', personId)
        .returning('id')
        .execute();
      return ended.length > 0;
    },
    async endOthers(trx, personId, sessionId = '') {
      await trx.deleteFrom('sessions').where('person_id', '=', personId).where('id', '!=', sessionId).execute();
    },
  };
}

/** @throws data_loss when something else altered the row */
function signedInOf(row: IdentityTables['sessions'] & { readonly email: string | null }): SignedIn {
  requireRight(sessions, [row]);
  return { sessionId: row.id, personId: row.person_id, email: row.email ?? '' };
}
