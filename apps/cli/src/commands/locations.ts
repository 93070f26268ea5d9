/** `platform locations`: the tree of locations of an organization. */
import { type JsonObject, type Location, timestampDate } from '@platform/sdk/cloud';
import { Command } from 'commander';
import type { Context } from '../invocation/context.ts';
import { defineCommand, group } from '../invocation/define-command.ts';

const fields = ['id', 'name', 'path', 'parent_id', 'organization_id', 'machines', 'shared_with', 'created_at'];

export function locationsCommand(): Command {
  return group('locations', 'the places where machines are, as a tree', [
    list(),
    get(),
    create(),
    update(),
    remove(),
    share('share', 'let another organization operate the machines of a location'),
    share('unshare', 'stop sharing a location'),
    group('secrets', 'secrets of a location', [secrets(), createSecret(), deleteSecret()]),
  ]);
}

function shape(one: Location, all: readonly Location[]): JsonObject {
  const path = (at: Location): string => {
    const parent = all.find((other) => other.id === at.parentLocationId);
    return parent === undefined ? at.name : `${path(parent)}/${at.name}`;
  };
  return {
    id: one.id,
    name: one.name,
    path: path(one),
    parent_id: one.parentLocationId || null,
    organization_id: one.primaryOrgIdentity?.id ?? null,
    machines: one.robotCount,
    shared_with: one.organizations.filter((other) => !other.primary).map((other) => other.organizationId),
    created_at: one.createdOn === undefined ? null : timestampDate(one.createdOn).toISOString(),
  };
}

async function show({ cloud, out, find, signal }: Context, id: string): Promise<void> {
  const organization = await find.organization();
  const { locations } = await (await cloud()).app.listLocations({ organizationId: organization.id }, { signal });
  const { location } = await (await cloud()).app.getLocation({ locationId: id }, { signal });
  if (location !== undefined) out.object(shape(location, locations));
}

function list(): Command {
  return defineCommand(
    new Command('list').description('list the locations of an organization'),
    {
      examples: ['platform locations list', 'platform locations list --organization "North plant" --json=id,path'],
      fields,
    },
    async ({ cloud, out, find, signal }) => {
      const organization = await find.organization();
      const { locations } = await (await cloud()).app.listLocations({ organizationId: organization.id }, { signal });
      const rows = locations.map((one) => shape(one, locations));
      out.rows(
        rows.toSorted((a, b) => String(a['path']).localeCompare(String(b['path']))),
        ['path', 'id', 'machines'],
      );
    },
  );
}

function get(): Command {
  return defineCommand(
    new Command('get').description('show one location').argument('<location>', 'name, path or id'),
    { examples: ['platform locations get "Plant/Hall 2"'], fields },
    async (context, _flags, text = '') => show(context, (await context.find.location(text)).id),
  );
}

function create(): Command {
  return defineCommand(
    new Command('create')
      .description('create a location')
      .argument('<name>')
      .option('--parent <location>', 'parent location (default: top level)'),
    { examples: ['platform locations create Plant', 'platform locations create "Hall 2" --parent Plant'], fields },
    async (context, flags, name = '') => {
      const organization = await context.find.organization();
      const parent = flags['parent'] === undefined ? undefined : await context.find.location(String(flags['parent']));
      const { location } = await (await context.cloud()).app.createLocation(
        { organizationId: organization.id, name, ...(parent === undefined ? {} : { parentLocationId: parent.id }) },
        { signal: context.signal },
      );
      const namesakes = (await context.find.locations()).filter(
        (one) => one.name === location?.name && one.parentId === location.parentLocationId && one.id !== location.id,
      );
      if (namesakes.length > 0)
        context.out.warn(
          `another location at this level is also named "${name}" (${namesakes.map(({ id }) => id).join(', ')}). From now on, use ids for both`,
        );
      await show(context, location?.id ?? '');
    },
  );
}

function update(): Command {
  return defineCommand(
    new Command('update')
      .description('rename or move a location')
      .argument('<location>', 'name, path or id')
      .option('--name <name>', 'new name')
      .option('--parent <location>', 'new parent; "" moves the location to the top level'),
    {
      examples: [
        'platform locations update "Plant/Hall 2" --name "Hall 3"',
        'platform locations update Annex --parent Plant',
      ],
      fields,
    },
    async (context, flags, text = '') => {
      const { id } = await context.find.location(text);
      const parent = flags['parent'] as string | undefined;
      const parentId = parent === undefined || parent === '' ? parent : (await context.find.location(parent)).id;
      await (await context.cloud()).app.updateLocation(
        {
          locationId: id,
          ...(flags['name'] === undefined ? {} : { name: String(flags['name']) }),
          ...(parentId === undefined ? {} : { parentLocationId: parentId }),
        },
        { signal: context.signal },
      );
      await show(context, id);
    },
  );
}

function remove(): Command {
  return defineCommand(
    new Command('delete').description('delete an empty location').argument('<location>', 'name, path or id'),
    { examples: ['platform locations delete "Plant/Hall 2"'] },
    async ({ cloud, out, find, confirm, signal }, _flags, text = '') => {
      const { id, name } = await find.location(text);
      await confirm(`Delete the location "${name}" (${id})?`);
      await (await cloud()).app.deleteLocation({ locationId: id }, { signal });
      out.note(`location "${name}" is deleted`);
    },
  );
}

function share(verb: 'share' | 'unshare', summary: string): Command {
  return defineCommand(
    new Command(verb)
      .description(summary)
      .argument('<location>', 'name, path or id')
      .requiredOption('--with <organization-id>', 'id of the other organization'),
    { examples: [`platform locations ${verb} "Plant/Hall 2" --with 00000000-0000-4000-8000-000000000000`] },
    async ({ cloud, out, find, signal }, flags, text = '') => {
      const { id, name } = await find.location(text);
      const { app } = await cloud();
      const request = { locationId: id, organizationId: String(flags['with']) };
      await (verb === 'share' ? app.shareLocation(request, { signal }) : app.unshareLocation(request, { signal }));
      out.note(
        `location "${name}" is ${verb === 'share' ? 'shared' : 'no longer shared'} with ${request.organizationId}`,
      );
    },
  );
}

const secretFields = ['id', 'secret', 'created_at'];

function secrets(): Command {
  return defineCommand(
    new Command('list')
      .description('show the secrets of a location; for owners')
      .argument('<location>', 'name, path or id'),
    { examples: ['platform locations secrets list Plant --json'], fields: secretFields },
    async ({ cloud, out, find, signal }, _flags, text = '') => {
      const { id } = await find.location(text);
      const { auth } = await (await cloud()).app.locationAuth({ locationId: id }, { signal });
      const rows = (auth?.secrets ?? []).map((one) => ({
        id: one.id,
        secret: one.secret,
        created_at: one.createdOn === undefined ? null : timestampDate(one.createdOn).toISOString(),
      }));
      out.rows(rows, secretFields);
    },
  );
}

function createSecret(): Command {
  return defineCommand(
    new Command('create').description('add a secret to a location').argument('<location>', 'name, path or id'),
    { examples: ['platform locations secrets create Plant'] },
    async ({ cloud, out, find, signal }, _flags, text = '') => {
      const { id, name } = await find.location(text);
      await (await cloud()).app.createLocationSecret({ locationId: id }, { signal });
      out.note(`location "${name}" has a new secret; show it with: platform locations secrets list ${id}`);
    },
  );
}

function deleteSecret(): Command {
  return defineCommand(
    new Command('delete')
      .description('delete a secret of a location')
      .argument('<location>', 'name, path or id')
      .argument('<secret-id>'),
    { examples: ['platform locations secrets delete Plant 3f0c…'] },
    async ({ cloud, out, find, confirm, signal }, _flags, text = '', secretId = '') => {
      const { id, name } = await find.location(text);
      await confirm(`Delete the secret ${secretId} of the location "${name}"?`);
      await (await cloud()).app.deleteLocationSecret({ locationId: id, secretId }, { signal });
      out.note('the secret is deleted');
    },
  );
}
