/** The ways to sign in that organizations allow, as far as passwords go. */
import { fromJsonString } from '@bufbuild/protobuf';
import { PlatformError } from '@platform/base';
import { AllowedLoginMethodsSchema, LoginMethod } from '@platform/proto/platform/app/v1/app';
import type { Database } from '../metadata/tables.ts';
import type { IdentityDeps } from './identity-deps.ts';
import { organizationIdsOf } from './members.ts';

/**
 * Call it before a session of somebody who proved herself with a password. One organization of hers that allows passwords
 * is enough: a session is for all of them. Where OpenID Connect is not set passwords are the only way in, and allowed.
 *
 * @throws permission_denied when none of her organizations allows passwords
 */
export async function requirePasswordAllowed(
  { hasOpenId, tree }: Pick<IdentityDeps, 'hasOpenId' | 'tree'>,
  trx: Database,
  personId: string,
): Promise<void> {
  if (!hasOpenId) return;
  const organizations = (await organizationIdsOf(trx, personId)).flatMap((id) => tree.organization(id) ?? []);
  if (organizations.length === 0 || organizations.some((one) => allowsPasswords(one.login_methods))) return;
  throw new PlatformError(
    'permission_denied',
    `sign-in: expected a way that one of your organizations allows, found a password, which ${organizations
      .slice(0, 5)
      .map(({ name }) => JSON.stringify(name))
      .join(', ')} ${organizations.length === 1 ? 'does' : 'do'} not allow; sign in with OpenID Connect`,
  );
}

/** @param methods JSON of an AllowedLoginMethods; null: all */
function allowsPasswords(methods: string | null): boolean {
  return methods === null || fromJsonString(AllowedLoginMethodsSchema, methods).methods.includes(LoginMethod.PASSWORD);
}
