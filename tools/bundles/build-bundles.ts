/** Builds the bundles of `programs.ts` with their source maps. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from '../repository.ts';
import { type Built, buildChanged, type Earlier, type Inputs } from './build-changed.ts';
import { noticesOf } from './notices.ts';
import { apart, copied, late, ofMachineServer, programs } from './programs.ts';

/** What the cloud hands to a computer that becomes a machine; `collect-program.ts` reads it. */
export interface MachineServerFiles {
  /** Names of files in this folder. */
  readonly files: readonly string[];
  readonly packages: readonly string[];
}

/** What decides how bundles are made. */
const own = ['tools/bundles/build-bundles.ts', 'tools/bundles/build-changed.ts', 'tools/bundles/programs.ts'];

const licences = 'licences.txt';
/** Files beside the bundles, wherever these go. */
const besides: readonly string[] = [licences, 'package.json'];

/** Prefix of modules that load a late package. */
const lateId = '\0late ';

/**
 * An import of it reads all its exports, one of which loads the implementation of WebSocket and fetch: 15 ms of each start. This way only what
 * is used is read.
 */
const http = 'node:http';
const httpId = `\0${http}`;

const stacks = join(root, 'packages/base/src/process/stacks/sources-in-stacks.ts');

/**
 * @param folder an empty one
 * @param earlier a build whose bundles are taken where no source of theirs has changed
 * @throws with file, line and reason if a source cannot be bundled
 */
export async function buildBundles(folder: string, earlier?: Earlier): Promise<Built & { readonly bundles: Inputs }> {
  mkdirSync(folder, { recursive: true });
  const names = Object.keys(programs);
  const common = ['package-lock.json', ...own];
  const build = (name: string): Promise<Built> =>
    buildBundle({ name, source: join(root, programs[name] ?? ''), folder, root });
  const bundles = await buildChanged({ names, common, folder, earlier, build });
  const packagesOf = (some: readonly Built[]): string[] =>
    [...new Set(some.flatMap(({ packages }) => packages))].sort();
  copyFileSync(join(root, copied), join(folder, basename(copied)));
  const machineServer: MachineServerFiles = {
    files: [...ofMachineServer.flatMap((name) => [`${name}.js`, `${name}.js.map`]), basename(copied), ...besides],
    packages: packagesOf(ofMachineServer.flatMap((name) => bundles[name] ?? [])),
  };
  writeFileSync(join(folder, 'machine-server.json'), `${JSON.stringify(machineServer, undefined, 1)}\n`);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  const all = Object.values(bundles);
  const bundled = all.flatMap((one) => one.inputs);
  writeFileSync(join(folder, licences), noticesOf(bundled));
  const inputs = new Set([copied, ...common, ...bundled]);
  return { inputs: [...inputs].sort(), packages: packagesOf(all), bundles };
}

/** The `package.json` of its workspace, whose exports decide which file an import means. Those of other packages are in the lockfile. */
function manifestOf(file: string): string[] {
  const [workspace] = /^(?:apps|packages)\/[^/]+\//.exec(file) ?? [];
  return workspace === undefined ? [] : [`${workspace}package.json`];
}

/** @param options root: paths of sources are relative to it */
export async function buildBundle(options: {
  readonly name: string;
  readonly source: string;
  readonly folder: string;
  readonly root: string;
}): Promise<Built> {
  const { name, source, folder, root: from } = options;
  const entry = `\0${name}`;
  const warnings: string[] = [];
  const latePackages = new Set<string>();
  await using bundle = await rolldown({
    input: { [name]: entry },
    cwd: from,
    platform: 'node',
    external: apart.filter((pattern) => pattern !== late),
    resolve: { conditionNames: ['@platform/source', 'node', 'default'] },
    onLog: (_level, { message }) => void warnings.push(message),
    // With filters, the bundler asks only for what a plugin answers, not for each import.
    plugins: [
      {
        name: 'entry',
        resolveId: { filter: { id: exactly(entry) }, handler: (id) => id },
        load: { filter: { id: exactly(entry) }, handler: () => importsOf([stacks, source]) },
      },
      {
        name: 'http of Node',
        resolveId: { filter: { id: exactly(http) }, handler: () => httpId },
        load: {
          filter: { id: exactly(httpId) },
          handler: () => `module.exports = process.getBuiltinModule(${JSON.stringify(http)});`,
        },
      },
      {
        name: 'late packages',
        resolveId: {
          filter: { id: late },
          handler(id, importer) {
            if (importer?.startsWith(lateId)) return { id, external: true };
            latePackages.add(packageNameOf(id));
            return `${lateId}${id}`;
          },
        },
        load: {
          filter: { id: new RegExp(`^${lateId}`) },
          handler: (id) => `module.exports = require(${JSON.stringify(id.slice(lateId.length))});`,
        },
      },
      {
        name: 'one byte a character',
        generateBundle(_options, files) {
          for (const file of Object.values(files)) if (file.type === 'chunk') file.code = inAscii(name, file.code);
        },
      },
    ],
  });
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    codeSplitting: false,
    // The notices of licences are in a file of their own.
    comments: false,
    sourcemap: true,
    // Readers of a map need only places.
    sourcemapExcludeSources: true,
  });
  // What the bundler only warns of fails when the program runs.
  if (warnings.length > 0) throw new Error(warnings.join('\n'));
  const [chunk, ...others] = output.filter((one) => one.type === 'chunk');
  if (chunk === undefined || others.length > 0) throw new Error(`${name}: expected one file, found ${output.length}`);
  const inputs = chunk.moduleIds.flatMap((id) => fileOf(id, from));
  return {
    inputs: [...inputs, ...new Set(inputs.flatMap(manifestOf))],
    packages: [...latePackages, ...[...chunk.imports, ...chunk.dynamicImports].flatMap(packageOf)],
  };
}

/**
 * The client library as one file for each entry point, and what they share. Other packages are its dependencies.
 * @param folder its `dist`, which has the declarations
 * @returns those packages
 */
export async function buildLibrary(folder: string): Promise<string[]> {
  const names = ['cloud', 'machine', 'machine-browser', 'module'];
  const entries = names.map((name) => [name, join(root, 'packages/sdk/src', `${name}.ts`)]);
  const beside = ['hash-thread', 'webrtc-engine'].map((name) => [name, join(root, programs[name] ?? '')]);
  await using bundle = await rolldown({
    input: Object.fromEntries([...entries, ...beside]),
    cwd: root,
    platform: 'node',
    external: (id) => !/^([./\0]|@platform\/)/.test(id),
    resolve: { conditionNames: ['@platform/source', 'node', 'default'] },
  });
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    // In one folder, where code finds the programs that it starts.
    chunkFileNames: 'shared-[name].js',
    sourcemap: true,
  });
  const chunks = output.filter((one) => one.type === 'chunk');
  const imported = chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports]);
  return [...new Set(imported.filter((id) => !/^node:|\.js$/.test(id)).map(packageNameOf))];
}

/**
 * V8 keeps a source with one byte a character if it has only Latin ones: 5 MB less in the cloud, where a hundred others would double it. An
 * escape is longer, so that positions after it in its line are a little beyond those in the source map.
 */
function inAscii(name: string, code: string): string {
  const escaped = /\\[^\0-\x7f]/.exec(code);
  if (escaped !== null) throw new Error(`${name}: ${escaped[0]} cannot be written as a Unicode escape`);
  return code.replaceAll(/[^\0-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** @param id without characters that patterns give a meaning */
function exactly(id: string): RegExp {
  return new RegExp(`^${id}$`);
}

function importsOf(files: readonly string[]): string {
  return files.map((file) => `import ${JSON.stringify(file)};`).join('\n');
}

/** The package of an import; none for modules of Node. */
function packageOf(specifier: string): string[] {
  const name = packageNameOf(specifier);
  return apart.some((pattern) => pattern.test(specifier)) && name !== 'pg-native' ? [name] : [];
}

function packageNameOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/** Virtual modules are no files. */
function fileOf(id: string, from: string): string[] {
  return id.startsWith('\0') || id.startsWith('rolldown:') ? [] : [relative(from, id.split('?')[0] ?? id)];
}
