/** Damages sealed files in the ways of disks, people and other programs. */
import { link, mkdir, open, readFile, rename, rm, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Damage, oneOf, type Random } from './damage.ts';

interface Target {
  readonly path: string;
  readonly bytes: Buffer;
  /** Another listed file. */
  readonly other: { readonly path: string; readonly bytes: Buffer };
  /** A path beside parquet/. */
  readonly aside: string;
  readonly random: Random;
}

const kinds: Readonly<Record<string, (target: Target) => Promise<void>>> = {
  'one bit flipped': async ({ path, bytes, random }) => {
    const at = Math.floor(random(0, bytes.length));
    await overwrite(path, at, Buffer.of((bytes[at] ?? 0) ^ (1 << Math.floor(random(0, 8)))));
  },
  'one bit flipped, times set back': async ({ path, bytes, random }) => {
    const { atime, mtime } = await stat(path);
    const at = Math.floor(random(0, bytes.length));
    await overwrite(path, at, Buffer.of((bytes[at] ?? 0) ^ (1 << Math.floor(random(0, 8)))));
    await utimes(path, atime, mtime);
  },
  'some bytes changed': async ({ path, bytes, random }) => {
    const at = Math.floor(random(0, bytes.length - 16));
    const other = Buffer.from(bytes.subarray(at, at + 16).map((byte) => byte ^ 0xff));
    await overwrite(path, at, other);
  },
  'a page of zeros': async ({ path, bytes, random }) => {
    const at = Math.floor(random(0, bytes.length - 512) / 512) * 512;
    await overwrite(path, at, Buffer.alloc(512));
  },
  'cut short': ({ path, bytes, random }) => truncate(path, Math.floor(random(0, bytes.length))),
  empty: ({ path }) => truncate(path, 0),
  'made longer': async ({ path, random }) =>
    writeFile(path, Buffer.alloc(1 + Math.floor(random(0, 5_000))), { flag: 'a' }),
  deleted: ({ path }) => rm(path),
  'replaced by a copy of another listed file': ({ path, other }) => writeFile(path, other.bytes),
  'exchanged with another listed file': async ({ path, other, aside }) => {
    await rename(path, aside);
    await rename(other.path, path);
    await rename(aside, other.path);
  },
  'replaced by a hard link to another listed file': async ({ path, other }) => {
    await rm(path);
    await link(other.path, path);
  },
  'replaced by a symbolic link to another listed file': async ({ path, other }) => {
    await rm(path);
    await symlink(other.path, path);
  },
  'replaced by a symbolic link to itself': async ({ path, aside }) => {
    await rename(path, aside);
    await symlink(aside, path);
  },
  'replaced by a folder': async ({ path }) => {
    await rm(path);
    await mkdir(path);
  },
};

export const fileDamages: readonly string[] = Object.keys(kinds);

export async function damageFile(
  parquetDir: string,
  files: readonly string[],
  kind: string,
  random: Random,
): Promise<Damage> {
  const file = oneOf(files, random);
  const second = oneOf(
    files.filter((each) => each !== file),
    random,
  );
  const paths = [join(parquetDir, file), join(parquetDir, second)] as const;
  const [bytes, others] = [await readFile(paths[0]), await readFile(paths[1])];
  const aside = join(parquetDir, 'aside');
  await kinds[kind]?.({ path: paths[0], bytes, other: { path: paths[1], bytes: others }, aside, random });
  return {
    what: `${file}: ${kind}`,
    names: [file, ...(kind.startsWith('exchanged') ? [second] : [])],
    async undo() {
      await rm(aside, { force: true });
      for (const [path, content] of [
        [paths[0], bytes],
        [paths[1], others],
      ] as const) {
        const found = await readFile(path).catch(() => undefined);
        const isLink = kind.includes('link') && path === paths[0];
        if (!isLink && found?.equals(content)) continue;
        // In place if possible: then only the file's times show the change.
        if (!isLink && found !== undefined && random(0, 2) < 1) await writeFile(path, content);
        else {
          await rm(path, { recursive: true, force: true });
          await writeFile(path, content);
        }
      }
    },
  };
}

async function overwrite(path: string, at: number, bytes: Buffer): Promise<void> {
  await using file = await open(path, 'r+');
  await file.write(bytes, 0, bytes.length, at);
}
