/** `platform locations`: the tree of locations of an organization. */
import type { JsonObject, Location } from '@platform/sdk/cloud';
import { Command } from 'commander';
import type { Context } from '../invocation/context.ts';
import { defineCommand, group } from '../invocation/define-command.ts';
import { namesOf } from '../results/names.ts';
import type { Output } from '../results/output.ts';
import { timeOf } from '../results/presenters.ts';
import { secretsCommand } from './secrets.ts';

const fields = [
  ...['id', 'name', 'path', 'parent', 'parent_id', 'organization', 'organization_id', 'machines', 'shared_with'],
  'created_at',
];
/** The names in a result. */
const kinds = ['location', 'organization'];
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

/** `shared_with` names organizations for people; JSON has their ids. */
function shape(one: Location, names: ReadonlyMap<string, string>, { style }: Output): JsonObject {
  const sharedWith = one.organizations.filter((other) => !other.primary).map((other) => other.organizationId);
  const nameOf = (id: string): string => names.get(id) ?? id;
  return {
    id: one.id,
    name: one.name,
    path: nameOf(one.id),
    parent: names.get(one.parentLocationId) ?? null,
    parent_id: one.parentLocationId || null,
    organization: one.primaryOrgIdentity?.name ?? null,
    organization_id: one.primaryOrgIdentity?.id ?? null,
    machines: one.robotCount,
    shared_with: style.json === false ? sharedWith.map(nameOf) : sharedWith,
    created_at: timeOf(one.createdOn),
  };
}

async function show(context: Context, id: string): Promise<void> {
  const { location } = await (await context.cloud()).app.getLocation({ locationId: id });
  if (location !== undefined) context.out.object(shape(location, await namesOf(context, kinds), context.out));
}

function list(): Command {
  return defineCommand(
    new Command('list').description('list the locations of an organization'),
    {
      examples: ['platform locations list', 'platform locations list --organization "North plant" --json=id,path'],
      fields,
    },
    async (context) => {
      const { cloud, out, find } = context;
      const { id: organizationId } = await find.organization();
      const { locations } = await (await cloud()).app.listLocations({ organizationId });
      const names = await namesOf(context, kinds);
      const rows = locations.map((one) => shape(one, names, out));
      out.rows(
        rows.toSorted((a, b) => String(a['path']).localeCompare(String(b['path']))),
        ['path', 'id', 'machines', 'shared_with'],
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
      .requiredOption('--with <organization>', 'id of the other organization; its name if you belong to it'),
    {
      examples: [
        `platform locations ${verb} "Plant/Hall 2" --with "Second plant"`,
        `platform locations ${verb} "Plant/Hall 2" --with 00000000-0000-4000-8000-000000000000`,
      ],
    },
    async ({ cloud, out, find }, flags, text = '') => {
      const { id, name } = await find.location(text);
      const { app } = await cloud();
      const other = String(flags['with']);
      const { organizations } = await app.listOrganizations({});
      const known = organizations.find((one) => one.id === other || one.name === other);
      const request = { locationId: id, organizationId: known?.id ?? other };
      await (verb === 'share' ? app.shareLocation(request) : app.unshareLocation(request));
      out.note(
        `location "${name}" is ${verb === 'share' ? 'shared' : 'no longer shared'} with ${known === undefined ? other : `"${known.name}"`}`,
      );
    },
  );
}
