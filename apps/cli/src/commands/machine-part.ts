/** `platform machines part`: the parts of machines. A part is given as id, Machine/part, or machine (for the main part). */
import { type JsonObject, type RobotPart, timestampDate } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand, group } from '../invocation/define-command.ts';
import { partStatus, partStatusFields, stateOf, timeOf } from '../invocation/presenters.ts';

const fields = ['id', 'name', 'machine_id', 'main', 'state', 'last_access', 'last_updated', 'created_at'];
const partArgument = ['<part>', 'id, Machine/part, or a machine (for its main part)'] as const;

export function machinePartCommand(): Command {
  return group('part', 'parts of a machine', [
    list(),
    get(),
    create(),
    rename(),
    remove(),
    main(),
    restart(),
    status(),
    force(),
    configFile(),
    group('secrets', 'secrets of a part', [secrets(), createSecret(), deleteSecret()]),
  ]).alias('parts');
}

function shape(one: RobotPart): JsonObject {
  return {
    id: one.id,
    name: one.name,
    machine_id: one.robot,
    main: one.mainPart,
    state: stateOf(one.onlineState),
    last_access: timeOf(one.lastAccess),
    last_updated: timeOf(one.lastUpdated),
    created_at: timeOf(one.createdOn),
  };
}

function list(): Command {
  return defineCommand(
    new Command('list').description('list the parts of a machine').argument('<machine>', 'name, Location/name or id'),
    { examples: ['platform machines part list press-7'], fields },
    async ({ cloud, out, find, signal }, _flags, text = '') => {
      const { id } = await find.machine(text);
      const { parts } = await (await cloud()).app.getRobotParts({ robotId: id }, { signal });
      out.rows(parts.map(shape), ['name', 'id', 'main', 'state', 'last_access']);
    },
  );
}

function get(): Command {
  return defineCommand(
    new Command('get').description('show one part').argument(...partArgument),
    { examples: ['platform machines part get press-7'], fields },
    async ({ cloud, out, find, signal }, _flags, text = '') => {
      const { id } = await find.part(text);
      const { part } = await (await cloud()).app.getRobotPart({ id }, { signal });
      if (part !== undefined) out.object(shape(part));
    },
  );
}

function create(): Command {
  return defineCommand(
    new Command('create')
      .description('add a part to a machine')
      .argument('<name>')
      .requiredOption('--machine <machine>', 'name, Location/name or id'),
    { examples: ['platform machines part create gripper --machine press-7'], fields },
    async ({ cloud, out, find, signal }, flags, name = '') => {
      const { id: robotId } = await find.machine(String(flags['machine']));
      const { app } = await cloud();
      const { partId } = await app.newRobotPart({ robotId, partName: name }, { signal });
      const { part } = await app.getRobotPart({ id: partId }, { signal });
      if (part !== undefined) out.object(shape(part));
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
    async ({ cloud, out, find, signal }, _flags, text = '', name = '') => {
      const { id } = await find.part(text);
      const { part } = await (await cloud()).app.updateRobotPart({ id, name }, { signal });
      if (part !== undefined) out.object(shape(part));
    },
  );
}

function remove(): Command {
  return defineCommand(
    new Command('delete').description('delete a part other than the main part').argument(...partArgument),
    { examples: ['platform machines part delete press-7/gripper'] },
    async ({ cloud, out, find, confirm, signal }, _flags, text = '') => {
      const { id, name } = await find.part(text);
      await confirm(`Delete the part "${name}" (${id}) with its configurations and logs?`);
      await (await cloud()).app.deleteRobotPart({ partId: id }, { signal });
      out.note(`part "${name}" is deleted`);
    },
  );
}

function main(): Command {
  return defineCommand(
    new Command('main').description('make a part the main part of its machine').argument(...partArgument),
    { examples: ['platform machines part main press-7/gripper'] },
    async ({ cloud, out, find, signal }, _flags, text = '') => {
      const { id, name } = await find.part(text);
      await (await cloud()).app.markPartAsMain({ partId: id }, { signal });
      out.note(`part "${name}" is now the main part`);
    },
  );
}

function restart(): Command {
  return defineCommand(
    new Command('restart').description('ask the machine-server of a part to restart').argument(...partArgument),
    { examples: ['platform machines part restart press-7'] },
    async ({ cloud, out, find, signal }, _flags, text = '') => {
      const { id, name } = await find.part(text);
      await (await cloud()).app.markPartForRestart({ partId: id }, { signal });
      out.note(`part "${name}" will restart; within seconds if it is online`);
    },
  );
}

function status(): Command {
  return defineCommand(
    new Command('status')
      .description(
        'show the state of a part: saved, fetched and applied configuration, what is held back and why, last contact and last error',
      )
      .argument(...partArgument),
    {
      examples: ['platform machines part status press-7', 'platform machines part status press-7 --json'],
      fields: partStatusFields,
    },
    async ({ cloud, out, find, signal }, _flags, text = '') => {
      const { id } = await find.part(text);
      out.object(partStatus(await (await cloud()).fleet.getPartStatus({ partId: id }, { signal })));
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
    async ({ cloud, out, find, confirm, signal }, flags, text = '') => {
      const { id, name } = await find.part(text);
      const { fleet } = await cloud();
      // Force the revision that was shown: another one may arrive while the question is open.
      const { held, heldReason } = await fleet.getPartStatus({ partId: id }, { signal });
      const revision = typeof flags['revision'] === 'string' ? flags['revision'] : (held?.revision ?? '');
      if (held !== undefined) {
        const since = timeOf(held.at) ?? 'now';
        const why = heldReason === '' ? '' : ` (${heldReason})`;
        await confirm(
          `Run the configuration ${held.revision} of the part "${name}" now? It has been held back since ${since}${why}. This may interrupt the machine’s work.`,
        );
      }
      const forced = await fleet.forceConfiguration({ partId: id, revision }, { signal });
      out.note(`part "${name}" will run ${forced.revision}; within seconds if it is online`);
    },
  );
}

function configFile(): Command {
  return defineCommand(
    new Command('config-file')
      .description('print the credentials file for the machine-server of this part; it contains a secret')
      .argument(...partArgument),
    {
      examples: ['platform machines part config-file press-7 > platform.json', 'machine-server -config platform.json'],
      fields: ['cloud'],
    },
    async (context, _flags, text = '') => {
      const { id } = await context.find.part(text);
      // The machine trusts the authority that this login trusts: it has no fingerprint to compare.
      const { url, ca } = await context.login();
      const { part } = await (await context.cloud()).app.getRobotPart({ id }, { signal: context.signal });
      const secret = part?.secret || part?.secrets[0]?.secret;
      if (!secret)
        context.out.warn(
          'you are not an owner of this part: the file lacks the secret, so no machine-server can start with it',
        );
      const cloud = { id, secret: secret ?? '', app_address: url, ...(ca === undefined ? {} : { ca }) };
      context.out.document({ cloud });
    },
  );
}

const secretFields = ['id', 'secret', 'created_at'];

function secrets(): Command {
  return defineCommand(
    new Command('list').description('show the secrets of a part; for owners').argument(...partArgument),
    { examples: ['platform machines part secrets list press-7'], fields: secretFields },
    async ({ cloud, out, find, signal }, _flags, text = '') => {
      const { id } = await find.part(text);
      const { part } = await (await cloud()).app.getRobotPart({ id }, { signal });
      const rows = (part?.secrets ?? []).map((one) => ({
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
    new Command('create')
      .description('add a secret to a part; existing secrets keep working')
      .argument(...partArgument),
    { examples: ['platform machines part secrets create press-7'] },
    async ({ cloud, out, find, signal }, _flags, text = '') => {
      const { id, name } = await find.part(text);
      await (await cloud()).app.createRobotPartSecret({ partId: id }, { signal });
      out.note(`part "${name}" has a new secret; show it with: platform machines part secrets list ${id}`);
    },
  );
}

function deleteSecret(): Command {
  return defineCommand(
    new Command('delete')
      .description('delete a secret of a part')
      .argument(...partArgument)
      .argument('<secret-id>'),
    { examples: ['platform machines part secrets delete press-7 3f0c…'] },
    async ({ cloud, out, find, confirm, signal }, _flags, text = '', secretId = '') => {
      const { id, name } = await find.part(text);
      await confirm(
        `Delete the secret ${secretId} of the part "${name}"? A machine-server that uses it stops syncing.`,
      );
      await (await cloud()).app.deleteRobotPartSecret({ partId: id, secretId }, { signal });
      out.note('the secret is deleted');
    },
  );
}
