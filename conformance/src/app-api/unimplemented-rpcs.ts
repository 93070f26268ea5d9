import type { AppClient } from '@viamrobotics/sdk';
import { expect, test } from 'vitest';
import { codeOf } from './watch.ts';
import { Code, type World } from './world.ts';

/** Registry items, OAuth apps, rented machines, app pages: out of scope. */
export const outOfScope: ReadonlySet<string> = new Set([
  'EnableAuthService',
  'DisableAuthService',
  'CreateOAuthApp',
  'ReadOAuthApp',
  'UpdateOAuthApp',
  'DeleteOAuthApp',
  'ListOAuthApps',
  'CreateOAuthAppUser',
  'GetRoverRentalRobots',
  'GetRegistryItem',
  'CreateRegistryItem',
  'UpdateRegistryItem',
  'ListRegistryItems',
  'DeleteRegistryItem',
  'RenameRegistryItem',
  'TransferRegistryItem',
  'DeprecateRegistryItem',
  'UndeprecateRegistryItem',
  'DeprecateRegistryItemVersion',
  'UndeprecateRegistryItemVersion',
  'GetAppContent',
  'GetAppBranding',
]);

/** Called with the arguments that a user of the package would give. */
const throughPackage: Readonly<Record<string, (app: AppClient, organizationId: string) => Promise<unknown>>> = {
  GetRoverRentalRobots: (app, id) => app.getRoverRentalRobots(id),
  GetRegistryItem: (app) => app.getRegistryItem('acme:item'),
  CreateRegistryItem: (app, id) => app.createRegistryItem(id, 'item', 1),
  UpdateRegistryItem: (app) => app.updateRegistryItem('acme:item', 1, 'text', 1),
  ListRegistryItems: (app, id) => app.listRegistryItems(id, [], [], [], []),
  DeleteRegistryItem: (app) => app.deleteRegistryItem('acme:item'),
  GetAppContent: (app) => app.getAppContent('acme', 'app'),
  GetAppBranding: (app) => app.getAppBranding('acme', 'app'),
};

export function outOfScopeTests(world: () => World): void {
  test.each([...outOfScope])('%s answers UNIMPLEMENTED with a message', async (operation) => {
    const { owner, cloud } = world();
    const call = throughPackage[operation]?.(owner.app, cloud.organizationId) ?? owner.ask(operation);
    const caught: unknown = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(codeOf(caught)).toBe(Code.unimplemented);
    expect(String(caught)).toMatch(new RegExp(`${operation}.* \\w+ \\w+`));
  });
}
