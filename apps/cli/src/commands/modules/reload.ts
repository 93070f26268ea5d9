/** `platform modules reload`: a machine-server of this computer runs the module from the developer's folder. */
import { join, resolve } from 'node:path';
import { invalidArgument } from '@platform/base/refusals';
import type { JsonObject } from '@platform/machine-config/schema';
import { restartModule } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { type Context, readKey } from '../../invocation/context.ts';
import { defineCommand, type Flags } from '../../invocation/define-command.ts';
import { parseObject } from '../../invocation/input.ts';
import { readConfiguration } from '../config/configuration.ts';
import { problemsOf, save } from '../config/save.ts';
import { type Built, buildFolder, folderArgument } from './build-folder.ts';
import { keepNewest } from './keep-newest.ts';
import { entrypoint } from './meta.ts';
import { withReloaded } from './reloaded-configuration.ts';
import { waitUntilApplied } from './wait-until-applied.ts';

/** Longer than a machine-server takes to fetch a configuration. */
const applyLimitMs = 60_000;

export function reloadModule(): Command {
  return defineCommand(
    new Command('reload')
      .description(
        'build a module and run it on a machine-server of this computer: sets reload_path in the configuration of its part, or restarts a module that a local configuration names',
      )
      .argument(...folderArgument)
      .option('--part <part>', 'part that runs the module: id, Machine/part, or a machine (for its main part)')
      .option(
        '--address <host:port>',
        'port of a machine-server with a local configuration, whose modules have dist/module/run.sh of this folder as executable_path',
      )
      .option('--name <name>', 'name of the module in the configuration (default: that of module_id in meta.json)'),
    {
      examples: [
        'platform modules reload --part press-7',
        'platform modules reload my-sensor --part press-7',
        'platform modules reload --address 127.0.0.1:8080',
      ],
      fields: ['name', 'executable_path', 'models', 'state', 'error'],
    },
    async (context, flags, given = '.') => {
      const { part, address } = flags as { part?: string; address?: string };
      if ((part === undefined) === (address === undefined))
        throw invalidArgument(
          'expected --part (a part of the cloud) or --address (a machine-server with a local configuration), found ' +
            (part === undefined ? 'neither' : 'both'),
        );
      context.progress.says('bundling');
      const folder = resolve(given);
      if (part === undefined) await restart(context, flags, folder, String(address));
      else await configure(context, flags, folder, part);
    },
  );
}

async function restart(context: Context, flags: Flags, folder: string, address: string): Promise<void> {
  if (!/^(\[[\da-fA-F:]+\]|[^:/\s]+):\d{1,5}$/.test(address))
    throw invalidArgument(`--address: expected host:port, such as 127.0.0.1:8080, found ${JSON.stringify(address)}`);
  const built = await buildFolder(folder, join(folder, 'dist', 'module'), process.execPath);
  const module = String(flags['name'] ?? built.name);
  const { keyId, keyFile } = context.flags;
  const key =
    keyId === undefined && keyFile === undefined ? undefined : await readKey(keyId, keyFile, context.invocation);
  await restartModule({ address, module, key, signal: context.signal });
  show(context, module, built, { state: 'restarted', error: '' });
}

async function configure(context: Context, flags: Flags, folder: string, part: string): Promise<void> {
  const next = await buildFolder(folder, join(folder, 'dist', 'reload', 'next'), process.execPath);
  const built = { ...next, path: await keepNewest(next.path) };
  const before = await readConfiguration(context, part);
  const { document, name } = withReloaded(parseObject(before.text, 'configuration') as JsonObject, {
    ...{ name: flags['name'] as string | undefined, moduleName: built.name, moduleId: built.moduleId },
    path: join(built.path, entrypoint),
  });
  const text = JSON.stringify(document, null, 2);
  const problems = await problemsOf(context, before.partId, text);
  // Its purpose is this change, so it asks for no confirmation.
  await save({ ...context, confirm: async () => {} }, before, text, problems);
  context.progress.says(`waiting until ${before.partName} runs it`);
  const { fleet } = await context.cloud();
  const applied = await waitUntilApplied(fleet, before.partId, applyLimitMs, context.signal);
  show(context, name, built, applied);
  if (applied.state === 'waiting')
    context.out.note(
      `the part "${before.partName}" has not applied it yet: it is offline or holds it back; see platform machines part status`,
    );
}

function show(context: Context, name: string, built: Built, { state, error }: { state: string; error: string }): void {
  context.out.object({
    ...{ name, executable_path: join(built.path, entrypoint) },
    ...{ models: built.models.map(({ model }) => model), state, error: error === '' ? null : error },
  });
}
