/** `platform machines part`: the parts of machines. A part is given as id, Machine/part, or machine (for the main part). */
import type { JsonObject, RobotPart } from '@platform/sdk/cloud';
import { Command } from 'commander';
import type { Context } from '../invocation/context.ts';
import { defineCommand, group } from '../invocation/define-command.ts';
import { partStatus, presenter, stateOf, timeOf } from '../results/presenters.ts';
import { partArgument } from './config/configuration.ts';
import { configFileCommand } from './config-file.ts';
import { copyCommand } from './remote/copy.ts';
import { modulesCommand, resourcesCommand } from './remote/resources.ts';
import { runCommand } from './remote/run.ts';
import { shellCommand } from './remote/shell.ts';
import { snippetCommand } from './remote/snippet.ts';
import { tunnelCommand } from './remote/tunnel.ts';
import { secretsCommand } from './secrets.ts';

export function machinePartCommand(): Command {
  return group('part', 'parts of a machine: the computers that run a machine-server', [
    list(),
    get(),
    create(),
    rename(),
    remove(),
    main(),
    restart(),
    status(),
    force(),
    resourcesCommand(),
    modulesCommand(),
    runCommand(),
    shellCommand(),
    copyCommand(),
    tunnelCommand(),
    snippetCommand(),
    configFileCommand(),
    secretsCommand({
      what: 'part',
      argument: partArgument,
      example: ['platform machines part secrets', 'press-7'],
      warning: ' A machine-server that uses it stops syncing.',
      read: async (app, id) => (await app.getRobotPart({ id })).part?.secrets,
      create: (app, partId) => app.createRobotPartSecret({ partId }),
      remove: (app, partId, secretId) => app.deleteRobotPartSecret({ partId, secretId }),
    }),
  ]).alias('parts');
}

const part = presenter<RobotPart>({
  machine_id: (one) => one.robot,
  main: (one) => one.mainPart,
  fqdn: (one) => one.fqdn,
  state: (one) => stateOf(one.onlineState),
  last_access: (one) => timeOf(one.lastAccess),
  last_updated: (one) => timeOf(one.lastUpdated),
  created_at: (one) => timeOf(one.createdOn),
});
const fields = ['id', 'name', 'machine', ...part.fields];

/** @param machine its name */
function shape(one: RobotPart, machine: string): JsonObject {
  return { id: one.id, name: one.name, machine, ...part.shape(one) };
}

async function show({ cloud, out }: Context, id: string): Promise<void> {
  const { app } = await cloud();
  const { part: found } = await app.getRobotPart({ id });
  if (found === undefined) return;
  out.object(shape(found, (await app.getRobot({ id: found.robot })).robot?.name ?? ''));
}

function list(): Command {
  return defineCommand(
    new Command('list').description('list the parts of a machine').argument('<machine>', 'name, Location/name or id'),
    { examples: ['platform machines part list press-7'], fields },
    async ({ cloud, out, find }, _flags, text = '') => {
      const { id, name } = await find.machine(text);
      const { parts } = await (await cloud()).app.getRobotParts({ robotId: id });
      const rows = parts.map((one) => shape(one, name));
      out.rows(rows, ['name', 'id', 'main', 'state', 'last_access']);
    },
  );
}

function get(): Command {
  return defineCommand(
    new Command('get').description('show one part').argument(...partArgument),
    { examples: ['platform machines part get press-7'], fields },
    async (context, _flags, text = '') => show(context, (await context.find.part(text)).id),
  );
}

function create(): Command {
  return defineCommand(
    new Command('create')
      .description('add a part to a machine')
      .argument('<name>')
      .requiredOption('--machine <machine>', 'name, Location/name or id'),
    { examples: ['platform machines part create gripper --machine press-7'], fields },
    async (context, flags, name = '') => {
      const { id: robotId } = await context.find.machine(String(flags['machine']));
      const { partId } = await (await context.cloud()).app.newRobotPart({ robotId, partName: name });
      await show(context, partId);
    },
  );
}

function rename(): Command {
  return defineCommand(
    new Command('rename')
      .description('rename a part')
      .argument(...partArgument)
      .argument('<name>'),
    { examples: ['platform machines part rename press-7/gripper gripper-left'], fields },
    async (context, _flags, text = '', name = '') => {
      const { id } = await context.find.part(text);
      await (await context.cloud()).app.updateRobotPart({ id, name });
      await show(context, id);
    },
  );
}

function remove(): Command {
  return defineCommand(
    new Command('delete').description('delete a part other than the main part').argument(...partArgument),
    { examples: ['platform machines part delete press-7/gripper'] },
    async ({ cloud, out, find, confirm }, _flags, text = '') => {
      const { id, name } = await find.part(text);
      await confirm(`Delete the part "${name}" (${id}) with its configurations and logs?`);
      await (await cloud()).app.deleteRobotPart({ partId: id });
      out.note(`part "${name}" is deleted`);
    },
  );
}

function main(): Command {
  return defineCommand(
    new Command('main').description('make a part the main part of its machine').argument(...partArgument),
    { examples: ['platform machines part main press-7/gripper'] },
    async ({ cloud, out, find }, _flags, text = '') => {
      const { id, name } = await find.part(text);
      await (await cloud()).app.markPartAsMain({ partId: id });
      out.note(`part "${name}" is now the main part`);
    },
  );
}

function restart(): Command {
  return defineCommand(
    new Command('restart').description('ask the machine-server of a part to restart').argument(...partArgument),
    { examples: ['platform machines part restart press-7'] },
    async ({ cloud, out, find }, _flags, text = '') => {
      const { id, name } = await find.part(text);
      await (await cloud()).app.markPartForRestart({ partId: id });
      out.note(`part "${name}" will restart; within seconds if it is online`);
    },
  );
}

function status(): Command {
  return defineCommand(
    new Command('status')
      .description(
        'show the state of a part: its saved, fetched and applied configuration, what it holds back and why, its last contact, its link for remote control, and its last error',
      )
      .argument(...partArgument),
    {
      examples: ['platform machines part status press-7', 'platform machines part status press-7 --json'],
      fields: ['part', 'machine', ...partStatus.fields],
    },
    async ({ cloud, out, find }, _flags, text = '') => {
      const { id, name, machineId } = await find.part(text);
      const { app, fleet } = await cloud();
      const { robot } = await app.getRobot({ id: machineId });
      out.object({
        part: name,
        machine: robot?.name ?? null,
        ...partStatus.shape(await fleet.getPartStatus({ partId: id })),
      });
    },
  );
}

function force(): Command {
  return defineCommand(
    new Command('force')
      .description(
        'run the configuration that a part holds back, even though its maintenance window is closed; for owners',
      )
      .argument(...partArgument)
      .option('--revision <revision>', 'only if this is the revision held back (held_revision in "part status")'),
    { examples: ['platform machines part force press-7', 'platform machines part force press-7 --yes'] },
    async ({ cloud, out, find, confirm }, flags, text = '') => {
      const { id, name } = await find.part(text);
      const { fleet } = await cloud();
      // Force the revision that was shown: another one may arrive while the question is open.
      const { held, heldReason } = await fleet.getPartStatus({ partId: id });
      const revision = typeof flags['revision'] === 'string' ? flags['revision'] : (held?.revision ?? '');
      if (held !== undefined) {
        const since = timeOf(held.at) ?? 'now';
        const why = heldReason === '' ? '' : ` (${heldReason})`;
        await confirm(
          `Run the configuration ${held.revision} of the part "${name}" now? It has been held back since ${since}${why}. This may interrupt the machine’s work.`,
        );
      }
      const forced = await fleet.forceConfiguration({ partId: id, revision });
      out.note(`part "${name}" will run ${forced.revision}; within seconds if it is online`);
    },
  );
}
