/** Adds and removes roles, for owners of their targets (R7). Each change runs in a transaction with its audit entry. */
import { failedPrecondition, invalidArgument, notFound } from '@platform/base';
import type { Authorization } from '@platform/proto/platform/app/v1/app';
import type { Database } from '../metadata/tables.ts';
import { type AuditTarget, audit, type Caller } from './audit.ts';
import { grantText, owns, readGrant } from './authorization-on-wire.ts';
import type { Access } from './authorize.ts';
import {
  addGrant,
  grantsOfIdentity,
  type Identity,
  ownersLeft,
  removeGrant,
  requireOwnerLeft,
  sameTarget,
} from './grants.ts';
import { managedKey } from './managed-key.ts';
import { type Grant, notVisible, ownsWhole, type Principal } from './principal.ts';

export interface RoleDeps {
  readonly db: Database;
  readonly access: Access;
  readonly now: () => number;
  /** Called after a commit that changed roles, to drop cached callers. */
  readonly changed: () => void;
}

/** Adding a role that is already held succeeds and changes nothing. @throws not_found, permission_denied, invalid_argument */
export async function addRole(deps: RoleDeps, by: Caller, authorization: Authorization): Promise<void> {
  const { db, access, now, changed } = deps;
  const grant = readGrant(access, by.principal, authorization);
  await db.transaction().execute(async (trx) => {
    const identity = await eligible(trx, access, by.principal, authorization, grant.organizationId);
    if (await addGrant(trx, identity, grant))
      await audit(trx, by, now(), 'AppService.AddRole', targetOf(identity, grant), { role: grantText(grant) });
  });
  changed();
}

/** @throws not_found if the role is not held, failed_precondition for the last owner and for the last role of a key */
export async function removeRole(deps: RoleDeps, by: Caller, authorization: Authorization): Promise<void> {
  const { db, access, now, changed } = deps;
  const grant = readGrant(access, by.principal, authorization);
  await db.transaction().execute(async (trx) => {
    const identity = await holder(trx, authorization, grant);
    await removeGrant(trx, identity, grant);
    if (identity.type === 'api-key' && (await grantsOfIdentity(trx, identity)).length === 0)
      throw failedPrecondition(
        `API key ${identity.id}: expected at least one role to remain, found that this is its last one; use DeleteKey to delete the key, or ChangeRole to change its role`,
      );
    const left = ownsWhole(grant) ? await requireOwnerLeft(trx, grant.organizationId) : undefined;
    const detail = { role: grantText(grant), ...ownersLeft(left) };
    await audit(trx, by, now(), 'AppService.RemoveRole', targetOf(identity, grant), detail);
  });
  changed();
}

/** Replaces one role by another in one transaction. @throws like addRole and removeRole */
export async function changeRole(deps: RoleDeps, by: Caller, from: Authorization, to: Authorization): Promise<void> {
  const { db, access, now, changed } = deps;
  const was = readGrant(access, by.principal, from);
  const becomes = readGrant(access, by.principal, to);
  if (to.identityId !== '' && to.identityId !== from.identityId)
    throw invalidArgument(
      `new_authorization.identity_id: expected that of old_authorization, found ${JSON.stringify(to.identityId.slice(0, 64))}`,
    );
  await db.transaction().execute(async (trx) => {
    const identity = await holder(trx, from, was);
    await eligible(trx, access, by.principal, from, becomes.organizationId);
    await removeGrant(trx, identity, was);
    await addGrant(trx, identity, becomes);
    const left = ownsWhole(was) ? await requireOwnerLeft(trx, was.organizationId) : undefined;
    const detail = { from: grantText(was), to: grantText(becomes), ...ownersLeft(left) };
    await audit(trx, by, now(), 'AppService.ChangeRole', targetOf(identity, becomes), detail);
  });
  changed();
}

/**
 * Checks that the caller may give this identity a role in the organization: it must be a key that the caller manages, or a person of the
 * organization whom the caller knows. Any other identity is answered like an unknown id.
 */
async function eligible(
  trx: Database,
  access: Access,
  principal: Principal,
  { identityId: id, identityType }: Authorization,
  organizationId: string,
): Promise<Identity> {
  for (const type of typesNamed(identityType)) {
    const grants = await grantsOfIdentity(trx, { type, id });
    if (grants.length === 0) continue;
    if (type === 'api-key') {
      await managedKey(trx, access, principal, id, identityName(identityType));
      return { type, id };
    }
    // Operators of the organization see its members. Other callers know only the people with a role on something that they own.
    const known = grants.some(
      (grant) =>
        grant.organizationId === organizationId &&
        (access.allows(principal, 'organization.read', organizationId) || owns(access, principal, grant)),
    );
    if (known) return { type, id };
  }
  throw notVisible(identityName(identityType), id);
}

/** The identity that holds exactly this role. */
async function holder(trx: Database, { identityId: id, identityType }: Authorization, grant: Grant): Promise<Identity> {
  for (const type of typesNamed(identityType)) {
    const held = await grantsOfIdentity(trx, { type, id });
    if (held.some((one) => one.role === grant.role && sameTarget(one, grant))) return { type, id };
  }
  throw notFound(
    `role: expected one that the identity holds, found ${grantText(grant)}, which ${JSON.stringify(id.slice(0, 64))} does not hold`,
  );
}

/** The identity types that a request may mean: public clients name the type or leave it empty. */
function typesNamed(identityType: string): readonly Identity['type'][] {
  if (identityType === '') return ['person', 'api-key'];
  if (identityType === 'api-key') return ['api-key'];
  if (identityType === 'user' || identityType === 'person') return ['person'];
  throw invalidArgument(
    `identity_type: expected "user" or "api-key", found ${JSON.stringify(identityType.slice(0, 64))}`,
  );
}

function identityName(identityType: string): string {
  if (identityType === '') return 'identity';
  return identityType === 'api-key' ? 'API key' : 'person';
}

function targetOf({ type, id }: Identity, { organizationId }: Grant): AuditTarget {
  return [type === 'person' ? 'person' : 'key', id, organizationId];
}
