import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { PlatformError } from '@platform/sdk/cloud';
import type { FoundFile } from './read-capture.ts';

/**
 * Writes the readable part of a damaged file below `target`, under the same name and identity; the original is only read.
 *
 * @returns the new file; undefined if nothing can be saved. @throws already_exists
 */
export function repairFile({ path, contents }: FoundFile, root: string, target: string): string | undefined {
  if (contents === undefined || contents.readings.length === 0) return undefined;
  const to = join(target, relative(root, path) || path.slice(path.lastIndexOf('/') + 1)).replace(/\.prog$/, '.capture');
  if (existsSync(to))
    throw new PlatformError('already_exists', `expected no file at ${to}, found one: name another folder`);
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  const file = openSync(to, 'wx', 0o600);
  try {
    writeSync(file, readFileSync(path).subarray(0, contents.goodBytes));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return to;
}
