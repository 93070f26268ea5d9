import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { captureFileBytes, sealedName } from '@platform/capture-file';
import { PlatformError } from '@platform/sdk/cloud';
import type { FoundFile } from './read-capture.ts';

/** @param root the damaged file or folder. @throws invalid_argument if sync would find the repaired files in `target` */
export function checkTarget(root: string, target: string): void {
  const way = relative(folderOf(root), resolve(target)).split(sep);
  if (way[0] !== '..')
    throw new PlatformError(
      'invalid_argument',
      `expected another folder than that of the damaged files and none in it, found ${target}`,
    );
}

/**
 * Writes the readable part of a damaged file below `target`, under the same name and identity; the original is only read.
 *
 * @param root the damaged file, or the folder that is being repaired
 * @returns the new file; undefined if nothing can be saved. @throws already_exists
 */
export function repairFile({ path, contents }: FoundFile, root: string, target: string): string | undefined {
  if (contents === undefined || contents.readings.length === 0) return undefined;
  const { kind, header, readings, goodBytes } = contents;
  const name = kind === 'own' ? sealedName(path, readings.length) : path.replace(/\.prog$/, '.capture');
  const to = join(target, relative(folderOf(root), resolve(dirname(path))), basename(name));
  if (existsSync(to))
    throw new PlatformError('already_exists', `expected no file at ${to}, found one: name another folder`);
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  const file = openSync(to, 'wx', 0o600);
  try {
    writeSync(file, kind === 'own' ? captureFileBytes(header, readings) : readFileSync(path).subarray(0, goodBytes));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return to;
}

function folderOf(root: string): string {
  return resolve(statSync(root).isDirectory() ? root : dirname(root));
}
