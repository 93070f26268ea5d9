/** Builds a role on an organization, location or machine from --role, --location and --machine. */
import type { Authorization } from '@platform/sdk/cloud';
import type { Context } from './context.ts';
import type { Flags } from './define-command.ts';

export type WireAuthorization = Omit<Authorization, '$typeName' | '$unknown'>;

export async function authorizationFor(
  { find }: Context,
  flags: Flags,
  identity: { id: string; type: string } = { id: '', type: '' },
): Promise<WireAuthorization> {
  const role = String(flags['role']);
  const organization = await find.organization();
  const made = (resourceType: 'organization' | 'location' | 'robot', resourceId: string): WireAuthorization => ({
    authorizationType: 'role',
    authorizationId: `${resourceType}_${role}`,
    resourceType,
    resourceId,
    organizationId: organization.id,
    identityId: identity.id,
    identityType: identity.type,
  });
  if (flags['machine'] !== undefined) return made('robot', (await find.machine(flags['machine'])).id);
  if (flags['location'] !== undefined) return made('location', (await find.location(flags['location'])).id);
  return made('organization', organization.id);
}
