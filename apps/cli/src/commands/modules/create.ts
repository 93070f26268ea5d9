/** `platform modules create`. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { PlatformError } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineLocalCommand } from '../../invocation/define-command.ts';
import { shellWord } from '../../invocation/shell-word.ts';
import { linkSdk } from './link-sdk.ts';
import { moduleFiles } from './template.ts';

/** Names of modules and namespaces are part of models, paths and loggers. */
const nameForm = /^[a-z][a-z0-9-]{0,59}$/;

export function createModule(): Command {
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
        throw new PlatformError(
          'already_exists',
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
  throw new PlatformError(
    'invalid_argument',
    `${what}: expected a lower-case letter, then letters, digits and "-", at most 60, found ${JSON.stringify(text)}`,
  );
}
