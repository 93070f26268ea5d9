/** People: their accounts, sign-in and invitations (D30). */
import { type Clock, type Follower, follow } from '@platform/base';
import type { AppService } from '@platform/proto/platform/app/v1/app';
import type { CloudHandlers } from '../access/principal.ts';
import type { Database } from '../metadata/tables.ts';
import type { IdentityOperationDeps } from './identity-deps.ts';
import { invitationHandlers } from './invitations/invitation-rpc.ts';
import { memberHandlers } from './member-rpc.ts';
import { pruneExpired } from './prune-expired.ts';
import { createLink } from './sign-in/links.ts';
import { createOpenId, type OpenId, type OpenIdSettings } from './sign-in/open-id.ts';

export interface Identity extends AsyncDisposable {
  /** Dependencies of this folder's operations, for the pages of the edge. */
  readonly deps: IdentityOperationDeps;
  /** Absent: OpenID Connect is not configured. */
  readonly openId: OpenId | undefined;
  /** Invitations, members and people, for AppService. */
  readonly appHandlers: CloudHandlers<typeof AppService>;
  /** Starts to delete expired rows periodically. */
  start(): void;
}

export interface IdentityDeps extends Omit<IdentityOperationDeps, 'openIdIssuer'> {
  /** Absent: no one can sign in by OpenID Connect. */
  readonly openIdSettings: OpenIdSettings | undefined;
}

export function createIdentity({ openIdSettings, ...given }: IdentityDeps): Identity {
  const deps: IdentityOperationDeps = { ...given, openIdIssuer: openIdSettings?.issuer };
  let forgetting: Follower | undefined;
  return {
    deps,
    openId: openIdSettings && createOpenId({ settings: openIdSettings, publicUrl: deps.publicUrl }),
    appHandlers: { ...invitationHandlers(deps), ...memberHandlers(deps) },
    start() {
      forgetting ??= follow({
        name: 'identity: delete what has expired',
        idleMs: 3_600_000,
        clock: deps.clock,
        log: deps.log,
        step: () => pruneExpired(deps),
      });
    },
    async [Symbol.asyncDispose]() {
      await forgetting?.[Symbol.asyncDispose]();
    },
  };
}

/**
 * Creates a token for `/sign-in?token=` that signs in the first owner once, within a day. It replaces the token of an earlier start.
 * Undefined once the owner has another way to sign in, or if no one from the first start remains.
 */
export async function createOwnerLink(deps: {
  readonly db: Database;
  readonly clock: Clock;
}): Promise<string | undefined> {
  return deps.db.transaction().execute(async (trx) => {
    const first = await trx.selectFrom('people').select('id').orderBy('created_ms').orderBy('id').executeTakeFirst();
    if (first === undefined) return undefined;
    const password = await trx
      .selectFrom('passwords')
      .select('person_id')
      .where('person_id', '=', first.id)
      .executeTakeFirst();
    const elsewhere = await trx
      .selectFrom('person_identities')
      .select('person_id')
      .where('person_id', '=', first.id)
      .executeTakeFirst();
    if (password !== undefined || elsewhere !== undefined) return undefined;
    return createLink(trx, deps.clock, { purpose: 'sign-in', personId: first.id });
  });
}
