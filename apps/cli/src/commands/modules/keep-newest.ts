/** The folders of builds that machines run from. */
import { createHash } from 'node:crypto';
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Names the folder of a build after its content, beside earlier ones: a different path makes the machine-server restart it. The newest
 * earlier build is kept, because it runs until then.
 *
 * @param path of the folder of a build. @returns its new path
 */
export async function keepNewest(path: string): Promise<string> {
  const above = dirname(path);
  const files = (await readdir(path, { recursive: true, withFileTypes: true })).filter((one) => one.isFile());
  const hash = createHash('sha256');
  for (const file of files.map((one) => join(one.parentPath, one.name)).toSorted())
    hash.update(`${file.slice(path.length)}\n`).update(await readFile(file));
  const named = join(above, hash.digest('hex').slice(0, 12));
  await rm(named, { recursive: true, force: true });
  await rename(path, named);
  const all = await Promise.all(
    (await readdir(above)).map(async (name) => ({ name, ms: (await stat(join(above, name))).mtimeMs })),
  );
  const earlier = all.filter(({ name }) => join(above, name) !== named).toSorted((a, b) => b.ms - a.ms);
  for (const { name } of earlier.slice(1)) await rm(join(above, name), { recursive: true, force: true });
  return named;
}
