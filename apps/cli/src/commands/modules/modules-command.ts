/** `platform modules`: programs that provide resources to machines. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { alreadyExists, invalidArgument } from '@platform/base/refusals';
import { type JsonObject, PackageType } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand, defineLocalCommand, group } from '../../invocation/define-command.ts';
import { parseObject } from '../../invocation/input.ts';
import { shellWord } from '../../invocation/shell-word.ts';
import { openArchive, upload, uploadFields } from '../packages/archive.ts';
import { platformOption } from '../packages/packages-command.ts';
import { buildModule, linkSdk } from './build-folder.ts';
import { reloadModule } from './reload.ts';
import { moduleFiles } from './template.ts';

export function modulesCommand(): Command {
  const commands = [createModule(), reloadModule(), buildModule(), uploadModule()];
  return group('modules', 'modules that machines run', commands).alias('module');
}

/** Names of modules and namespaces are part of models, paths and loggers. */
const nameForm = /^[a-z][a-z0-9-]{0,59}$/;

function createModule(): Command {
  return defineLocalCommand(
    new Command('create')
      .description('create a folder with a working module: one sensor, in TypeScript')
      .argument('<name>', 'name of the module, or the path of a new folder that has its name')
      .option('--namespace <name>', 'first part of its models, such as the name of your organization', 'local'),
    {
      examples: ['platform modules create my-sensor', 'platform modules create my-sensor --namespace acme'],
      fields: ['name', 'path', 'model', 'files'],
    },
    async ({ out }, flags, path = '') => {
      const folder = resolve(path);
      const name = checked('name', basename(folder));
      const namespace = checked('--namespace', String(flags['namespace']));
      await mkdir(folder, { recursive: true });
      const found = await readdir(folder);
      if (found.length > 0)
        throw alreadyExists(
          `${path}: expected a new or an empty folder, found one with ${found.slice(0, 3).join(', ')}`,
        );
      const files = moduleFiles({ name, namespace });
      for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
      await linkSdk(folder);
      out.object({ name, path: folder, model: `${namespace}:${name}:load`, files: Object.keys(files) });
      out.note(`run it on a machine of this computer with: platform modules reload ${shellWord(path)} --part PART`);
    },
  );
}

function checked(what: string, text: string): string {
  if (nameForm.test(text)) return text;
  throw invalidArgument(
    `${what}: expected a lower-case letter, then letters, digits and "-", at most 60, found ${JSON.stringify(text)}`,
  );
}

function uploadModule(): Command {
  return defineCommand(
    new Command('upload')
      .description('upload a module: machines get it as a registry module of the organization')
      .argument('<path>', 'a folder, or a .tar.gz file; its meta.json names the module and its entrypoint')
      .requiredOption('--version <version>', 'semantic version, such as 1.2.0; a version never changes')
      .option('--name <name>', 'name of the module (default: that of module_id in meta.json)')
      .option('--entrypoint <path>', 'program to start, relative to the folder (default: entrypoint in meta.json)')
      .option(...platformOption),
    {
      examples: [
        'platform modules upload ./my-sensor --version 0.1.0 --platform linux/arm64',
        'platform modules upload module.tar.gz --version 0.2.0 --name my-sensor --entrypoint run.sh',
      ],
      fields: uploadFields,
    },
    async (context, flags, path = '') => {
      const archive = await openArchive(path);
      const text = await archive.read('meta.json');
      const meta = text === undefined ? {} : parseObject(text, 'meta.json');
      const name: string = flags['name'] ?? textIn(meta, 'module_id').split(':').at(-1);
      const entrypoint: string = flags['entrypoint'] ?? textIn(meta, 'entrypoint');
      if (name === '' || entrypoint === '')
        throw invalidArgument(
          `${path}: expected a meta.json with ${name === '' ? 'module_id' : 'entrypoint'}, found ${text === undefined ? 'none' : 'one without it'}; add it, or give ${name === '' ? '--name' : '--entrypoint'}`,
        );
      const { version, platform = '' } = flags;
      const id = await upload(context, archive, {
        ...{ name, version, platform },
        type: PackageType.MODULE,
        metadata: { entrypoint },
      });
      const module = { type: 'registry', name, module_id: id.replace('/', ':'), version };
      context.out.note(`to run it, add to "modules" of a configuration: ${JSON.stringify(module)}`);
    },
  );
}

function textIn(meta: JsonObject, name: string): string {
  const value = meta[name];
  return typeof value === 'string' ? value : '';
}
