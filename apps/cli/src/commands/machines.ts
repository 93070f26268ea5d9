/** `platform machines`: list, create, move and delete machines, and show their status. */
import { type JsonObject, OnlineState, type Robot, systemClock } from '@platform/sdk/cloud';
import { Command } from 'commander';
import type { Context } from '../invocation/context.ts';
import { defineCommand, group } from '../invocation/define-command.ts';
import { shellWord } from '../invocation/shell-word.ts';
import { namesOf } from '../results/names.ts';
import { ageOf, partStatus, presenter, stateOf, timeOf } from '../results/presenters.ts';
import { connectCommand } from './connect/connect.ts';
import { machineArgument, machineFavoritesCommand } from './machine-favorites.ts';
import { machinePartCommand } from './machine-part.ts';
import { askDataStatus, dataFields, dataRow, resourceDataFields, resourceRows } from './remote/data-status.ts';

export function machinesCommand(): Command {
  return group('machines', 'machines and their parts', [
    list(),
    get(),
    create(),
    update(),
    remove(),
    status(),
    connectCommand(),
    machinePartCommand(),
    machineFavoritesCommand(),
  ])
    .alias('machine')
    .alias('robots');
}

const machine = presenter<Robot>({
  id: (one) => one.id,
  name: (one) => one.name,
  location_id: (one) => one.location,
  state: (one) => stateOf(one.onlineState),
  last_access: (one) => timeOf(one.lastAccess),
  created_at: (one) => timeOf(one.createdOn),
});
const fields = [...machine.fields, 'location'];

/** With the path of its location. */
function shape(one: Robot, locations: ReadonlyMap<string, string>): JsonObject {
  const { id, name, ...others } = machine.shape(one);
  return { id: id ?? '', name: name ?? '', location: locations.get(one.location) ?? null, ...others };
}

/** @returns the machine as commands find it: Location/name */
async function show(context: Context, id: string): Promise<string> {
  const { robot } = await (await context.cloud()).app.getRobot({ id });
  if (robot === undefined) return id;
  const shown = shape(robot, await namesOf(context, ['location']));
  context.out.object(shown);
  return shown['location'] === null ? id : `${shown['location']}/${robot.name}`;
}

function list(): Command {
  return defineCommand(
    new Command('list')
      .description('list the machines of an organization or a location')
      .option('--location <location>', 'only machines at this location')
      .option('--offline', 'only machines that are not online'),
    {
      examples: ['platform machines list', 'platform machines list --location Plant --json=id,name,state'],
      fields,
    },
    async (context, flags) => {
      const { cloud, out, find } = context;
      const { app } = await cloud();
      const location = flags['location'] as string | undefined;
      const { robots } =
        location === undefined
          ? await app.listRobotsForOrg({ orgId: (await find.organization()).id })
          : await app.listRobots({ locationId: (await find.location(location)).id });
      const shown = flags['offline'] ? robots.filter((one) => one.onlineState !== OnlineState.ONLINE) : robots;
      const locations = await namesOf(context, ['location']);
      const rows = shown.map((one) => shape(one, locations));
      out.rows(
        rows.toSorted((a, b) => String(a['name']).localeCompare(String(b['name']))),
        ['name', 'id', 'location', 'state', 'last_access'],
      );
    },
  );
}

function get(): Command {
  return defineCommand(
    new Command('get').description('show one machine').argument(...machineArgument),
    { examples: ['platform machines get press-7', 'platform machines get Plant/press-7 --json'], fields },
    async (context, _flags, text = '') => void (await show(context, (await context.find.machine(text)).id)),
  );
}

function create(): Command {
  return defineCommand(
    new Command('create')
      .description('create a machine with one main part')
      .argument('<name>')
      .requiredOption('--location <location>', 'where the machine is: name, path or id'),
    { examples: ['platform machines create press-7 --location "Plant/Hall 2"'], fields },
    async (context, flags, name = '') => {
      const { id: location } = await context.find.location(String(flags['location']));
      const { id } = await (await context.cloud()).app.newRobot({ name, location });
      const path = await show(context, id);
      context.out.note(
        `write its credentials file with: platform machines part config-file ${shellWord(path)} > platform.json`,
      );
    },
  );
}

function update(): Command {
  return defineCommand(
    new Command('update')
      .description('rename a machine or move it to another location')
      .argument(...machineArgument)
      .option('--name <name>', 'new name')
      .option('--location <location>', 'new location'),
    { examples: ['platform machines update press-7 --location "Plant/Hall 3"'], fields },
    async (context, flags, text = '') => {
      const { cloud, find } = context;
      const machine = await find.machine(text);
      const location = flags['location'] as string | undefined;
      await (await cloud()).app.updateRobot({
        id: machine.id,
        name: (flags['name'] as string | undefined) ?? machine.name,
        location: location === undefined ? machine.locationId : (await find.location(location)).id,
      });
      await show(context, machine.id);
    },
  );
}

function remove(): Command {
  return defineCommand(
    new Command('delete')
      .description('delete a machine with its parts, configurations and logs')
      .argument(...machineArgument),
    { examples: ['platform machines delete press-7', 'platform machines delete press-7 --yes'] },
    async ({ cloud, out, find, confirm }, _flags, text = '') => {
      const { id, name } = await find.machine(text);
      await confirm(`Delete the machine "${name}" (${id}) with its configurations and logs? This cannot be undone.`);
      await (await cloud()).app.deleteRobot({ id });
      out.note(`machine "${name}" is deleted`);
    },
  );
}

function status(): Command {
  return defineCommand(
    new Command('status')
      .description(
        'show the last contact, configuration, capture and sync of each part of a machine. Parts that are online are asked; for those that are offline, the last report is shown with its age',
      )
      .argument(...machineArgument)
      .option('--resources', 'what capture and sync are doing, for each captured resource'),
    {
      examples: ['platform machines status press-7', 'platform machines status press-7 --resources'],
      fields: ['part', ...partStatus.fields, ...dataFields, 'sync_as_of', 'sync_age'],
    },
    async ({ cloud, out, find, signal }, flags, text = '') => {
      const { id } = await find.machine(text);
      const opened = await cloud();
      const { parts } = await opened.app.getRobotParts({ robotId: id });
      const found = await Promise.all(
        parts.map(async (part) => {
          const status = await opened.fleet.getPartStatus({ partId: part.id });
          const told = { part, status, data: status.data?.status, toldAt: status.data?.at, failure: undefined };
          if (status.linkSince === undefined) return told;
          using machine = opened.machine(part.id, { session: false });
          try {
            return { ...told, data: await askDataStatus(machine, signal), toldAt: undefined };
          } catch (failure) {
            return { ...told, failure };
          }
        }),
      );
      if (flags['resources'] === true) {
        const rows = found.flatMap(({ part, data }) =>
          data === undefined ? [] : resourceRows(data).map((row) => ({ part: part.name, ...row })),
        );
        out.rows(rows, ['part', ...resourceDataFields]);
        return;
      }
      const rows = found.map(({ part, status, data, toldAt, failure }) => ({
        part: part.name,
        ...partStatus.shape(status),
        ...dataRow(data, failure),
        sync_as_of: timeOf(toldAt),
        sync_age: ageOf(toldAt, systemClock.now()),
      }));
      out.records(rows, [
        'part',
        'state',
        'last_access',
        'saved_version',
        'applied_at',
        'held_since',
        'held_reason',
        'last_error',
        'sync',
        'captured',
        'uploaded_readings',
        'waiting_files',
        'oldest_waiting',
        'quarantined_files',
        'discarded_readings',
        'next_attempt',
        'sync_error',
        'sync_age',
      ]);
    },
  );
}
