/**
 * Collects one of our programs with all packages that it needs, as files of an archive. Our packages go to `packages/`, with links in
 * `node_modules`, because Node runs TypeScript only outside of `node_modules`. All others go to `node_modules`, nested as they are here.
 */
import { readdir, readFile, realpath } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PlatformError } from '@platform/base';
import type { TarEntry } from './tar.ts';

export interface Program {
  readonly entries: readonly TarEntry[];
  /** Path of the main module in the archive. */
  readonly main: string;
  /** Flags that Node needs for it. */
  readonly flags: readonly string[];
}

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Found {
  /** Real path on this computer. */
  readonly directory: string;
  /** Path in the archive. */
  readonly target: string;
  readonly manifest: Manifest;
}

const ours = '@platform/';
const sourceFlags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];
const unneeded =
  /(\.(map|md|markdown|flow|tsbuildinfo)|\.d\.[cm]?ts|\.test\.ts)$|(^|\/)(node_modules|testing|test|tests|\.\w[^/]*)(\/|$)/;

/** @param main path of its main module, in one of our packages: `…/src/main.ts` or `…/dist/main.js` */
export async function collectProgram(main: string): Promise<Program> {
  const real = await realpath(main);
  const directory = await packageOf(dirname(real));
  const isSource = real.endsWith('.ts');
  const found = new Map<string, Found>();
  const entries: TarEntry[] = [];
  const visit = async (at: string): Promise<void> => {
    if (found.has(at)) return;
    const manifest = JSON.parse(await readFile(join(at, 'package.json'), 'utf8')) as Manifest;
    const target = targetOf(manifest.name, at, [...found.values()]);
    found.set(at, { directory: at, target, manifest });
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      const dependency = await findPackage(name, at);
      if (dependency !== undefined) await visit(dependency);
      else if (manifest.dependencies?.[name] !== undefined)
        throw new PlatformError(
          'failed_precondition',
          `${manifest.name} needs the package ${name}, which is not installed`,
        );
    }
  };
  await visit(directory);
  for (const { directory: from, target, manifest } of found.values()) {
    const isOurs = manifest.name.startsWith(ours);
    const folders = isOurs ? ['package.json', isSource ? 'src' : 'dist'] : [''];
    for (const folder of folders) entries.push(...(await filesOf(from, folder, target)));
    if (isOurs) entries.push({ path: `node_modules/${manifest.name}`, linkTo: `../../${target}` });
  }
  const rootTarget = found.get(directory)?.target ?? '';
  return {
    entries,
    main: `${rootTarget}/${relative(directory, real).split(sep).join('/')}`,
    flags: [...(await flagsOf(directory)), ...(isSource ? sourceFlags : [])],
  };
}

/** The flags that the package of the program names. */
async function flagsOf(directory: string): Promise<readonly string[]> {
  const named = pathToFileURL(join(directory, 'node-flags.js')).href;
  const { nodeFlags } = (await import(named)) as { readonly nodeFlags: readonly string[] };
  return nodeFlags;
}

/** Inside an already known package, or at the top. */
function targetOf(name: string, at: string, known: readonly Found[]): string {
  if (name.startsWith(ours)) return `packages/${name.slice(ours.length)}`;
  const holders = known.filter(({ directory }) => at.startsWith(`${directory}${sep}`));
  const holder = holders.toSorted((a, b) => b.directory.length - a.directory.length)[0];
  return `${holder === undefined ? '' : `${holder.target}/`}node_modules/${name}`;
}

/** The folder of the package that contains a directory. */
async function packageOf(directory: string): Promise<string> {
  for (let at = directory; at !== dirname(at); at = dirname(at))
    if ((await readdir(at)).includes('package.json')) return at;
  throw new PlatformError('internal', `expected a package around ${directory}, found none`);
}

/** Looks packages up as Node does. */
async function findPackage(name: string, from: string): Promise<string | undefined> {
  for (let at = from; ; at = dirname(at)) {
    const found = await realpath(join(at, 'node_modules', name)).catch(() => undefined);
    if (found !== undefined) return found;
    if (at === dirname(at)) return undefined;
  }
}

async function filesOf(directory: string, folder: string, target: string): Promise<TarEntry[]> {
  if (folder !== '' && folder.includes('.'))
    return [{ path: `${target}/${folder}`, content: await readFile(join(directory, folder)) }];
  const all = await readdir(join(directory, folder), { recursive: true, withFileTypes: true });
  const paths = all
    .filter((one) => one.isFile())
    .map((one) => relative(directory, join(one.parentPath, one.name)).split(sep).join('/'))
    .filter((path) => !unneeded.test(path));
  return Promise.all(
    paths
      .toSorted()
      .map(async (path) => ({ path: `${target}/${path}`, content: await readFile(join(directory, path)) })),
  );
}
