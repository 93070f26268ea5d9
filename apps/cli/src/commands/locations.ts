/** `platform locations`: the tree of locations of an organization. */
import type { JsonObject, Location } from '@platform/sdk/cloud';
import { Command } from 'commander';
import type { Context } from '../invocation/context.ts';
import { defineCommand, group } from '../invocation/define-command.ts';
import { timeOf } from '../invocation/presenters.ts';
import { secretsCommand } from './secrets.ts';

const fields = ['id', 'name', 'path', 'parent_id', 'organization_id', 'machines', 'shared_with', 'created_at'];
const locationArgument = ['<location>', 'name, path or id'] as const;

export function locationsCommand(): Command {
  return group('locations', 'the places where machines are, as a tree', [
    list(),
    get(),
    create(),
    update(),
    remove(),
    share('share', 'let another organization operate the machines of a location'),
    share('unshare', 'stop sharing a location'),
    secretsCommand({
      what: 'location',
      argument: locationArgument,
      example: ['platform locations secrets', 'Plant'],
      warning: '',
      read: async (app, locationId) => (await app.locationAuth({ locationId })).auth?.secrets,
      create: (app, locationId) => app.createLocationSecret({ locationId }),
      remove: (app, locationId, secretId) => app.deleteLocationSecret({ locationId, secretId }),
    }),
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
    created_at: timeOf(one.createdOn),
  };
}

async function show({ cloud, out, find }: Context, id: string): Promise<void> {
  const organization = await find.organization();
  const { locations } = await (await cloud()).app.listLocations({ organizationId: organization.id });
  const { location } = await (await cloud()).app.getLocation({ locationId: id });
  if (location !== undefined) out.object(shape(location, locations));
}

function list(): Command {
  return defineCommand(
    new Command('list').description('list the locations of an organization'),
    {
      examples: ['platform locations list', 'platform locations list --organization "North plant" --json=id,path'],
      fields,
    },
    async ({ cloud, out, find }) => {
      const organization = await find.organization();
      const { locations } = await (await cloud()).app.listLocations({ organizationId: organization.id });
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
    new Command('get').description('show one location').argument(...locationArgument),
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
      const { id: organizationId } = await context.find.organization();
      const parentLocationId = flags['parent'] && (await context.find.location(flags['parent'])).id;
      const { app } = await context.cloud();
      const { location } = await app.createLocation({ organizationId, name, parentLocationId });
      await show(context, location?.id ?? '');
    },
  );
}

function update(): Command {
  return defineCommand(
    new Command('update')
      .description('rename or move a location')
      .argument(...locationArgument)
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
      const { id: locationId } = await context.find.location(text);
      const parentLocationId = flags['parent'] && (await context.find.location(flags['parent'])).id;
      await (await context.cloud()).app.updateLocation({ locationId, name: flags['name'], parentLocationId });
      await show(context, locationId);
    },
  );
}

function remove(): Command {
  return defineCommand(
    new Command('delete').description('delete an empty location').argument(...locationArgument),
    { examples: ['platform locations delete "Plant/Hall 2"'] },
    async ({ cloud, out, find, confirm }, _flags, text = '') => {
      const { id, name } = await find.location(text);
      await confirm(`Delete the location "${name}" (${id})?`);
      await (await cloud()).app.deleteLocation({ locationId: id });
      out.note(`location "${name}" is deleted`);
    },
  );
}

function share(verb: 'share' | 'unshare', summary: string): Command {
  return defineCommand(
    new Command(verb)
      .description(summary)
      .argument(...locationArgument)
      .requiredOption('--with <organization-id>', 'id of the other organization'),
    { examples: [`platform locations ${verb} "Plant/Hall 2" --with 00000000-0000-4000-8000-000000000000`] },
    async ({ cloud, out, find }, flags, text = '') => {
      const { id, name } = await find.location(text);
      const { app } = await cloud();
      const request = { locationId: id, organizationId: String(flags['with']) };
      await (verb === 'share' ? app.shareLocation(request) : app.unshareLocation(request));
      out.note(
        `location "${name}" is ${verb === 'share' ? 'shared' : 'no longer shared'} with ${request.organizationId}`,
      );
    },
  );
}
