/**
 * Collects the machine-server as files of an archive: its bundles, and the packages that they load, in `node_modules`, nested as they are
 * here.
 */
import { readdir, readFile, realpath } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { failedPrecondition } from '@platform/base';
import type { TarEntry } from './tar.ts';

export interface Program {
  readonly entries: readonly TarEntry[];
  /** Path of the main module in the archive. */
  readonly main: string;
  /** Flags that Node needs for it. */
  readonly flags: readonly string[];
}

/** `machine-server.json` beside the bundles (`tools/bundles/build-bundles.ts`). */
interface Listed {
  readonly files: readonly string[];
  readonly packages: readonly string[];
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

/** Documents, maps, and what the packages were made from. */
const unneeded =
  /\.(map|md|markdown|flow|[cm]?ts|c|cc|cpp|h|hh|hpp|inc|S|asm)$|(^|\/)(node_modules|testing|test|tests|\.\w[^/]*)(\/|$)/;

/** What must stay with a package, whatever its form. */
const needed = /(^|\/)(licen[cs]e|copying|notice)[^/]*$/i;

/** @param main path of the bundle of the machine-server */
export async function collectProgram(main: string): Promise<Program> {
  const directory = dirname(main);
  const { files, packages } = await listOf(main);
  const { nodeFlags } = (await import(pathToFileURL(join(directory, 'node-flags.js')).href)) as {
    readonly nodeFlags: readonly string[];
  };
  const found = new Map<string, Found>();
  const visit = async (name: string, from: string, isOptional: boolean): Promise<void> => {
    const at = await findPackage(name, from);
    if (at === undefined && !isOptional)
      throw failedPrecondition(`${from} needs the package ${name}, which is not installed`);
    if (at === undefined || found.has(at)) return;
    const manifest = JSON.parse(await readFile(join(at, 'package.json'), 'utf8')) as Manifest;
    found.set(at, { directory: at, target: targetOf(manifest.name, at, [...found.values()]), manifest });
    for (const other of Object.keys(manifest.dependencies ?? {})) await visit(other, at, false);
    for (const other of Object.keys(manifest.optionalDependencies ?? {})) await visit(other, at, true);
  };
  for (const name of packages) await visit(name, directory, false);
  const entries = files.map(async (path) => ({ path, content: await readFile(join(directory, path)) }));
  const ofPackages = [...found.values()].map(({ directory: from, target }) => filesOf(from, target));
  return {
    entries: [...(await Promise.all(entries)), ...(await Promise.all(ofPackages)).flat()],
    main: relative(directory, main),
    flags: nodeFlags,
  };
}

async function listOf(main: string): Promise<Listed> {
  const file = main.replace(/\.js$/, '.json');
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text !== undefined && file !== main) return JSON.parse(text) as Listed;
  throw failedPrecondition(
    `connect: expected the bundle of a machine-server with ${file} beside it, found ${main}; start the cloud with platform up`,
  );
}

/** Inside an already known package, or at the top. */
function targetOf(name: string, at: string, known: readonly Found[]): string {
  const holders = known.filter(({ directory }) => at.startsWith(`${directory}${sep}`));
  const holder = holders.toSorted((a, b) => b.directory.length - a.directory.length)[0];
  return `${holder === undefined ? '' : `${holder.target}/`}node_modules/${name}`;
}

/** Looks packages up as Node does. */
async function findPackage(name: string, from: string): Promise<string | undefined> {
  for (let at = from; ; at = dirname(at)) {
    const found = await realpath(join(at, 'node_modules', name)).catch(() => undefined);
    if (found !== undefined) return found;
    if (at === dirname(at)) return undefined;
  }
}

async function filesOf(directory: string, target: string): Promise<TarEntry[]> {
  const all = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = all
    .filter((one) => one.isFile())
    .map((one) => relative(directory, join(one.parentPath, one.name)).split(sep).join('/'))
    .filter((path) => needed.test(path) || !unneeded.test(path));
  return Promise.all(
    paths
      .toSorted()
      .map(async (path) => ({ path: `${target}/${path}`, content: await readFile(join(directory, path)) })),
  );
}
