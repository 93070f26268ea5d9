/** Packs the packages to be published, as tarballs. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { buildWebUi } from './build-web-ui.js';
import { read, root } from './repository.ts';

/** Folders of the workspaces that are published. */
function publishable(): string[] {
  const folders = ['apps', 'packages'].flatMap((kind) =>
    readdirSync(join(root, kind)).map((name) => `${kind}/${name}`),
  );
  return folders
    .filter((folder) => existsSync(join(root, folder, 'package.json')))
    .filter((folder) => JSON.parse(read(`${folder}/package.json`)).private !== true);
}

/** Emits into empty folders, so that no file of an earlier build is packed. */
export function emit(): void {
  for (const folder of publishable()) rmSync(join(root, folder, 'dist'), { recursive: true, force: true });
  execFileSync(join(root, 'node_modules', '.bin', 'tsc'), ['-b'], { cwd: root, stdio: 'inherit' });
  const say = (line: string): void => console.log(line);
  if (!buildWebUi(root, process.execPath, say, () => () => {})) throw new Error('the web UI could not be built');
}

/** @returns the paths of the tarballs. */
export function pack(into: string): string[] {
  mkdirSync(into, { recursive: true });
  const folders = publishable().flatMap((folder) => ['--workspace', folder]);
  npm(root, ['pack', '--pack-destination', into, '--ignore-scripts', ...folders]);
  return readdirSync(into).map((name) => join(into, name));
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
