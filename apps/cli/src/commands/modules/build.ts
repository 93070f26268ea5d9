/** `platform modules build`. */
import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { defineLocalCommand } from '../../invocation/define-command.ts';
import { shellWord } from '../../invocation/shell-word.ts';
import { openArchive } from '../packages/archive.ts';
import { buildFolder } from './build-folder.ts';

export const folderArgument = ['[folder]', 'folder of the module, with meta.json and package.json', '.'] as const;

export function buildModule(): Command {
  return defineLocalCommand(
    new Command('build')
      .description(
        'bundle a module into dist/module.tar.gz, and check that it provides the models that its meta.json lists',
      )
      .argument(...folderArgument),
    {
      examples: ['platform modules build', 'platform modules build my-sensor'],
      fields: ['name', 'path', 'size_bytes', 'models'],
    },
    async ({ out, progress }, _flags, given = '.') => {
      const folder = resolve(given);
      progress.says('bundling');
      const { name, models, path } = await buildFolder(folder, join(folder, 'dist', 'module'));
      const archive = join(folder, 'dist', 'module.tar.gz');
      await pipeline((await openArchive(path)).chunks(), createWriteStream(archive));
      const { size } = await stat(archive);
      out.object({ name, path: archive, size_bytes: size, models: models.map(({ model }) => model) });
      const shown = shellWord(join(given, 'dist', 'module.tar.gz'));
      out.note(`upload it with: platform modules upload ${shown} --version VERSION`);
    },
  );
}
