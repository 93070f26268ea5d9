/**
 * Writes what a machine sends to this computer. The machine is not trusted: below what is copied, no link of this computer is followed. A
 * file gets its name when it is complete.
 */
import { chmod, lstat, mkdir, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { failedPrecondition } from '@platform/base/refusals';
import { replaceFile } from '@platform/base/replace-file';
import { PlatformError } from '@platform/sdk/cloud';
import type { CopiedFile } from '@platform/sdk/machine';
import { failing } from './local-files.ts';

export interface Written {
  readonly files: number;
  readonly bytes: number;
}

/** @param name of what is copied; undefined if it has none, as `/` */
export async function targetOf(to: string, name: string | undefined): Promise<string> {
  const found = await stat(to).catch(() => undefined);
  return found?.isDirectory() === true && name !== undefined ? join(to, name) : to;
}

/** @param target the name that the copied file or folder gets. @param onBytes called with the file and its bytes so far */
export async function writeLocal(
  files: AsyncIterable<CopiedFile>,
  target: string,
  onBytes: (path: string, bytes: number) => void,
): Promise<Written> {
  const folders: { readonly path: string; readonly file: CopiedFile }[] = [];
  const made = new Set<string>();
  let [count, total] = [0, 0];
  for await (const file of files) {
    const path = join(target, ...file.path);
    if (file.isFolder) {
      await makeFolders(target, file.path, made);
      folders.push({ path, file });
      continue;
    }
    await makeFolders(target, file.path.slice(0, -1), made, file.path.length === 0);
    const replacement = await replaceFile(path, { followsLinks: file.path.length === 0 }).catch(explained(path));
    try {
      for await (const data of file.content) {
        await replacement.write(data).catch(explained(path));
        total += data.length;
        onBytes(path, total);
      }
      await replacement.finish({ mode: file.mode, modifiedMs: file.modifiedMs }).catch(explained(path));
    } finally {
      await replacement.discard();
    }
    count++;
  }
  // Last: files in them change their times, and may not fit their modes.
  for (const { path, file } of folders.toReversed()) {
    if (file.mode !== undefined) await chmod(path, file.mode & 0o777).catch(explained(path));
    const seconds = (file.modifiedMs ?? 0) / 1_000;
    if (file.modifiedMs !== undefined) await utimes(path, seconds, seconds).catch(explained(path));
  }
  return { files: count, bytes: total };
}

/** @param isFile the target is a file, whose folder must exist. @throws failed_precondition for a link below the target */
async function makeFolders(target: string, path: readonly string[], made: Set<string>, isFile = false): Promise<void> {
  if (isFile) return void (await stat(dirname(target)).catch(failing(dirname(target))));
  for (let length = 0; length <= path.length; length++) {
    const folder = join(target, ...path.slice(0, length));
    if (made.has(folder)) continue;
    await mkdir(folder).catch(async (caught: unknown) => {
      const found = await (length === 0 ? stat : lstat)(folder).catch(() => undefined);
      if (found?.isDirectory() === true) return;
      if (found?.isSymbolicLink() === true)
        throw failedPrecondition(`${folder}: expected a folder, found a link, which is not followed; remove it`);
      failing(folder)(caught);
    });
    made.add(folder);
  }
}

function explained(path: string): (caught: unknown) => never {
  return (caught) => {
    if (caught instanceof PlatformError) throw caught;
    return failing(path)(caught);
  };
}
