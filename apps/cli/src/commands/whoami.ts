/** `platform whoami` and `token`: the identity that a cloud sees. */
import type { Cloud, JsonObject } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand } from '../invocation/define-command.ts';
import { type Role, rolesField } from '../results/roles.ts';

export function whoamiCommand(): Command {
  return defineCommand(
    new Command('whoami').description('show the identity that the cloud sees, and its roles'),
    {
      examples: ['platform whoami', 'platform whoami --json'],
      fields: ['url', 'login', 'kind', 'id', 'name', 'roles'],
    },
    async ({ cloud, login, out }) => {
      const { url, source, as } = await login();
      const open = await cloud();
      const me = (await open.getJson('/api/whoami')) as JsonObject;
      const grants = (me['roles'] ?? []) as unknown as Grant[];
      const roles = await Promise.all(grants.map((grant) => roleIn(open.app, grant)));
      const shown = rolesField(out, roles, true);
      out.object({
        url,
        login: source,
        kind: me['kind'] ?? null,
        id: me['id'] ?? null,
        name: me['email'] || me['name'] || as,
        roles: roles.length === 0 && out.style.json === false ? 'none' : shown,
      });
    },
  );
}

/** A role as the cloud describes it to its owner. */
interface Grant {
  readonly role: string;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly locationId?: string;
  readonly machineId?: string;
}

async function roleIn(app: Cloud['app'], grant: Grant): Promise<Role> {
  const { role, organizationId, organizationName, locationId, machineId } = grant;
  const organization = organizationName || null;
  const of = { role, organizationId, organization };
  if (machineId !== undefined) {
    const name = (await app.getRobot({ id: machineId })).robot?.name ?? null;
    return { ...of, resourceType: 'machine', resourceId: machineId, resource: name };
  }
  if (locationId !== undefined) {
    const name = (await app.getLocation({ locationId })).location?.name ?? null;
    return { ...of, resourceType: 'location', resourceId: locationId, resource: name };
  }
  return { ...of, resourceType: 'organization', resourceId: organizationId, resource: organization };
}

export function tokenCommand(): Command {
  return defineCommand(
    new Command('token')
      .description('print an access token of this login, for other tools')
      .alias('print-access-token'),
    {
      examples: ['curl -H "authorization: Bearer $(platform token)" https://cloud.example/api/whoami'],
      fields: ['token'],
    },
    async ({ cloud, out }) => {
      const token = await (await cloud()).accessToken();
      if (out.style.json === false) out.raw(token);
      else out.object({ token });
    },
  );
}
