/** Builds a module's folder into the one that machines run: the bundled program, its start script, meta.json, and further files. */
import { createWriteStream } from 'node:fs';
import { chmod, cp, lstat, mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { invalidArgument } from '@platform/base/refusals';
import { errorText } from '@platform/sdk/cloud';
import type { ProvidedModel } from '@platform/sdk/module';
import { Command } from 'commander';
import { defineLocalCommand } from '../../invocation/define-command.ts';
import { shellWord } from '../../invocation/shell-word.ts';
import { openArchive } from '../packages/archive.ts';
import { checkModels, entrypoint, type ModuleFolder, readModuleFolder } from './meta.ts';

export interface Built extends ModuleFolder {
  /** The folder that machines run. */
  readonly path: string;
  readonly models: readonly ProvidedModel[];
}

const program = 'module.mjs';

/**
 * @param folder of the module. @param into emptied first. @param node that runs it if PLATFORM_NODE is not set.
 * @throws invalid_argument, failed_precondition that say what is wrong with the folder or its program
 */
export async function buildFolder(folder: string, into: string, node = 'node'): Promise<Built> {
  const module = await readModuleFolder(folder);
  await linkSdk(folder);
  await rm(into, { recursive: true, force: true });
  await mkdir(into, { recursive: true });
  await bundle(module.main, join(into, program));
  const start = join(into, entrypoint);
  await writeFile(start, startScript(node));
  await chmod(start, 0o755);
  for (const file of module.files) await copy(folder, into, file);
  // Loaded here, because no other command needs the serving code.
  const { describeModule } = await import('@platform/sdk/module');
  const models = await describeModule(process.execPath, [join(into, program)]);
  checkModels(module, models);
  await writeFile(join(into, 'meta.json'), `${JSON.stringify({ ...module.meta, models }, null, 2)}\n`);
  return { ...module, path: into, models };
}

const startScript = (node: string): string => `#!/bin/sh
# PLATFORM_NODE: the Node that runs this module; machine-servers of the platform set it to their own.
node="\${PLATFORM_NODE:-${node}}"
case "$("$node" --version 2>&1)" in
  v2[4-9].* | v[3-9][0-9].*) exec "$node" "$(dirname "$0")/${program}" "$@" ;;
  *)
    echo "expected Node 24 or newer as $node, found: $("$node" --version 2>&1); set PLATFORM_NODE to its path in the env of the module" >&2
    exit 1
    ;;
esac
`;

async function copy(folder: string, into: string, file: string): Promise<void> {
  try {
    await cp(join(folder, file), join(into, file), { recursive: true });
  } catch (caught) {
    throw invalidArgument(
      `package.json: files: expected a file or folder that can be copied, found ${file}: ${errorText(caught)}`,
    );
  }
}

/**
 * Bundles a program with everything that it imports into one file that Node runs.
 * Packages installed in the folder take precedence; otherwise `@platform/sdk/module` comes from this command line.
 *
 * @throws invalid_argument with the place of the mistake if the program or one of its imports cannot be read
 */
async function bundle(main: string, into: string): Promise<void> {
  // Loaded here: no other command needs its native library.
  const { rolldown } = await import('rolldown');
  const sdk = sdkEntry();
  // A checkout runs from source, and only its launcher sets this condition.
  const conditions = sdk.endsWith('.ts') ? ['@platform/source'] : [];
  const unresolved: string[] = [];
  try {
    await using made = await rolldown({
      input: main,
      // Places of mistakes are relative to it.
      cwd: dirname(main),
      platform: 'node',
      resolve: { conditionNames: [...conditions, 'node', 'import', 'default'] },
      onLog(_level, { code, message }) {
        if (code === 'UNRESOLVED_IMPORT') unresolved.push(plain(message).split('\n')[0] ?? '');
      },
      plugins: [
        {
          name: 'sdk',
          resolveId: {
            filter: { id: /^@platform\/sdk\/module$/ },
            async handler(id, importer) {
              return (await this.resolve(id, importer, { skipSelf: true })) ?? { id: sdk };
            },
          },
        },
      ],
    });
    const banner = '// Bundled by "platform modules build".';
    await made.write({ file: into, format: 'esm', codeSplitting: false, banner });
  } catch (caught) {
    throw invalidArgument(plain(errorText(caught)), caught);
  }
  if (unresolved.length > 0)
    throw invalidArgument(
      `${main}: expected imports that are installed, found others; install them with npm: ${unresolved.join('; ')}`,
    );
}

/** Texts of the bundler have colours, and a code in brackets. */
function plain(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/^Build failed with \d+ errors?:\s*/, '')
    .replaceAll(/^\[[A-Z_]+\] /gm, '')
    .trim();
}

/**
 * Lets editors and programs in a folder find `@platform/sdk`: a link to the one that came with this command line. The file that modules
 * import: from the installed package, or from the checkout.
 */
function sdkEntry(): string {
  return fileURLToPath(import.meta.resolve('@platform/sdk/module'));
}

/** Leaves an existing package unchanged, for example one that npm installed. */
export async function linkSdk(folder: string): Promise<void> {
  const link = join(folder, 'node_modules', '@platform', 'sdk');
  if ((await lstat(link).catch(() => undefined)) !== undefined) return;
  await mkdir(dirname(link), { recursive: true });
  // Two levels up: src/module.ts or dist/module.js.
  await symlink(dirname(dirname(sdkEntry())), link, 'dir');
}

/** `platform modules build`. */
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
