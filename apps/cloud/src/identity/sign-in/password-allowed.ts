/** Whether a person's organizations allow passwords. */
import { fromJsonString } from '@bufbuild/protobuf';
import { permissionDenied } from '@platform/base';
import { AllowedLoginMethodsSchema, LoginMethod } from '@platform/proto/platform/app/v1/app';
import type { Database } from '../../metadata/tables.ts';
import type { IdentityOperationDeps } from '../identity-deps.ts';
import { organizationIdsOf } from '../members.ts';

/**
 * Must be called before a session begins for a person who proved themselves with a password. A session covers all of their organizations,
 * so passwords are forbidden if any of them forbids them; otherwise the person could avoid the policy by creating an organization. The
 * person joined each organization voluntarily, and can still use OpenID Connect. If that is not configured, passwords are the only way to
 * sign in, and are allowed.
 *
 * @throws permission_denied if one of their organizations forbids passwords
 */
export async function requirePasswordAllowed(
  { openIdIssuer, tree }: Pick<IdentityOperationDeps, 'openIdIssuer' | 'tree'>,
  trx: Database,
  personId: string,
): Promise<void> {
  if (openIdIssuer === undefined) return;
  const forbidding = (await organizationIdsOf(trx, personId))
    .flatMap((id) => tree.organization(id) ?? [])
    .filter((one) => !allowsPasswords(one.login_methods));
  if (forbidding.length === 0) return;
  const names = forbidding.slice(0, 5).map(({ name }) => JSON.stringify(name));
  throw permissionDenied(
    `sign-in: expected a method that all of your organizations allow, found a password, which ${names.join(', ')} ${forbidding.length === 1 ? 'does' : 'do'} not allow; sign in with OpenID Connect (${openIdIssuer})`,
  );
}

/** @param methods JSON of an AllowedLoginMethods; null: all */
function allowsPasswords(methods: string | null): boolean {
  return methods === null || fromJsonString(AllowedLoginMethodsSchema, methods).methods.includes(LoginMethod.PASSWORD);
}
