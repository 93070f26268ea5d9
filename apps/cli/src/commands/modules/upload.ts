/** `platform modules upload`. */
import { type JsonObject, PackageType, PlatformError } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { parseObject } from '../../invocation/input.ts';
import { openArchive } from '../packages/archive.ts';
import { platformOption } from '../packages/packages-command.ts';
import { upload, uploadFields } from '../packages/upload.ts';

export function uploadModule(): Command {
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
        throw new PlatformError(
          'invalid_argument',
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
