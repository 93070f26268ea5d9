/**
 * Packs the packages to be published, as tarballs: the command line with all programs as bundles, and the client library with what its
 * types need.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { buildWebUi } from './build-web-ui.js';
import { buildBundles, buildLibrary } from './bundles/build-bundles.ts';
import { read, root } from './repository.ts';

interface Manifest {
  readonly name: string;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
}

/** Modules of users import it, and editors read its types, so it is published as it is. */
const library = '@platform/sdk';

const [app, sdk] = ['apps/cli', 'packages/sdk'];

/** @returns the paths of the tarballs. */
export async function pack(into: string): Promise<string[]> {
  mkdirSync(into, { recursive: true });
  const folders = publishedLibraries();
  // Into empty folders, so that no file of an earlier build is packed.
  for (const folder of folders) rmSync(join(root, folder, 'dist'), { recursive: true, force: true });
  execFileSync(join(root, 'node_modules', '.bin', 'tsc'), ['-b', ...folders], { cwd: root, stdio: 'inherit' });
  const staged = mkdtempSync(join(tmpdir(), 'platform-staged-'));
  try {
    await stageApp(join(staged, 'app'));
    await stageLibrary(join(staged, 'library'));
    const ofTypes = folders.filter((folder) => folder !== sdk);
    for (const folder of ofTypes) stageTypes(folder, join(staged, folder));
    const packed = ['app', 'library', ...ofTypes].map((folder) => join(staged, folder));
    npm(staged, ['pack', ...packed, '--pack-destination', into, '--ignore-scripts']);
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
  return readdirSync(into).map((name) => join(into, name));
}

/** The client library and our packages that it needs. */
function publishedLibraries(): string[] {
  const byName = new Map(readdirSync(join(root, 'packages')).map((name) => [`@platform/${name}`, `packages/${name}`]));
  const found = new Set<string>();
  const visit = (name: string): void => {
    const folder = byName.get(name);
    if (folder === undefined || found.has(folder)) return;
    found.add(folder);
    for (const dependency of Object.keys(manifestOf(folder).dependencies ?? {})) visit(dependency);
  };
  visit(library);
  return [...found];
}

/** The command line's package: launchers, bundles, web UI, and a manifest with the packages that bundles load. */
async function stageApp(into: string): Promise<void> {
  const say = (line: string): void => console.log(line);
  if (!buildWebUi(root, process.execPath, say, () => () => {})) throw new Error('the web UI could not be built');
  const { packages } = await buildBundles(join(into, 'dist'));
  cpSync(join(root, app, 'bin'), join(into, 'bin'), { recursive: true });
  cpSync(join(root, 'apps/web/build'), join(into, 'web'), { recursive: true });
  writeManifest(into, { ...manifestOf(app), dependencies: pinned([...packages, library]) });
}

/** The client library as bundles; editors read its declarations. */
async function stageLibrary(into: string): Promise<void> {
  const isType = (path: string): boolean => !/\.(js|map|tsbuildinfo)$/.test(path);
  cpSync(join(root, sdk, 'dist'), join(into, 'dist'), { recursive: true, filter: isType });
  const packages = await buildLibrary(join(into, 'dist'));
  const manifest = manifestOf(sdk);
  writeManifest(into, { ...manifest, dependencies: { ...manifest.dependencies, ...pinned(packages) } });
}

/** One of our packages that its types need, as it is. */
function stageTypes(folder: string, into: string): void {
  const manifest = manifestOf(folder);
  for (const file of manifest.files ?? []) cpSync(join(root, folder, file), join(into, file), { recursive: true });
  writeManifest(into, manifest);
}

function writeManifest(into: string, { devDependencies: _, ...manifest }: Manifest): void {
  writeFileSync(join(into, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  cpSync(join(root, 'LICENSE'), join(into, 'LICENSE'));
}

/** These packages with the versions that workspaces pin. */
function pinned(packages: readonly string[]): Record<string, string> {
  const folders = ['apps', 'packages'].flatMap((kind) =>
    readdirSync(join(root, kind)).map((name) => `${kind}/${name}`),
  );
  const versions = new Map(folders.flatMap((folder) => Object.entries(manifestOf(folder).dependencies ?? {})));
  return Object.fromEntries(
    packages.toSorted().map((name) => {
      const version = versions.get(name);
      if (version === undefined) throw new Error(`${name}: expected a workspace that depends on it, found none`);
      return [name, version];
    }),
  );
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(read(`${folder}/package.json`)) as Manifest;
}

/** Runs npm without the environment variables of an outer npm. */
export function npm(cwd: string, args: readonly string[]): void {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
  const result = spawnSync('npm', [...args], { cwd, encoding: 'utf8', env: { ...env, PATH: outsidePath() } });
  if (result.status !== 0)
    throw new Error(`npm ${args[0]} failed:\n${result.stdout}${result.stderr}${result.error ?? ''}`);
}

/** The path without folders of this repository, as in a user's shell. */
export function outsidePath(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.filter((folder) => !folder.includes('node_modules')).join(delimiter);
}
