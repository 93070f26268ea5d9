/** `platform whoami` and `token`: the identity that a cloud sees. */
import type { JsonObject } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand } from '../invocation/define-command.ts';

export function whoamiCommand(): Command {
  return defineCommand(
    new Command('whoami').description('show the identity that the cloud sees, and its roles'),
    {
      examples: ['platform whoami', 'platform whoami --json'],
      fields: ['url', 'login', 'kind', 'id', 'name', 'roles'],
    },
    async ({ cloud, login, out }) => {
      const { url, source, as } = await login();
      const me = (await (await cloud()).getJson('/api/whoami')) as JsonObject;
      const roles = (me['roles'] ?? []) as JsonObject[];
      out.object({
        url,
        login: source,
        kind: me['kind'] ?? null,
        id: me['id'] ?? null,
        name: me['email'] ?? me['name'] ?? as,
        roles:
          out.style.json === false
            ? roles.map((role) => `${role['role']} of ${whereOf(role)}`).join(', ') || 'none'
            : roles,
      });
    },
  );
}

function whereOf(role: JsonObject): string {
  const organization = String(role['organizationName'] ?? role['organizationId']);
  if (role['machineId'] !== undefined) return `machine ${role['machineId']} in ${organization}`;
  return role['locationId'] === undefined ? organization : `location ${role['locationId']} in ${organization}`;
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
