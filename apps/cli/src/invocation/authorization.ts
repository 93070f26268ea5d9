/** A role on an organization, location or machine, as --role, --location and --machine name it. */
import type { Context } from './context.ts';
import type { Flags } from './define-command.ts';

export interface WireAuthorization {
  readonly authorizationType: 'role';
  readonly authorizationId: string;
  readonly resourceType: 'organization' | 'location' | 'robot';
  readonly resourceId: string;
  readonly organizationId: string;
  readonly identityId: string;
  readonly identityType: string;
}

export async function authorizationFor(
  { find }: Context,
  flags: Flags,
  identity: { id: string; type: string } = { id: '', type: '' },
): Promise<WireAuthorization> {
  const role = String(flags['role']);
  const organization = await find.organization();
  const made = (resourceType: WireAuthorization['resourceType'], resourceId: string): WireAuthorization => ({
    authorizationType: 'role',
    authorizationId: `${resourceType}_${role}`,
    resourceType,
    resourceId,
    organizationId: organization.id,
    identityId: identity.id,
    identityType: identity.type,
  });
  if (flags['machine'] !== undefined) return made('robot', (await find.machine(String(flags['machine']))).id);
  if (flags['location'] !== undefined) return made('location', (await find.location(String(flags['location']))).id);
  return made('organization', organization.id);
}
