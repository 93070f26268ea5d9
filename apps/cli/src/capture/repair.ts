import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { alreadyExists, failedPrecondition, invalidArgument, notFound } from '@platform/base/refusals';
import { captureFileBytes, sealedName } from '@platform/capture-file';
import type { FoundFile } from './read-capture.ts';

/** @param root the damaged file or folder. @throws invalid_argument if sync would find the repaired files in `target` */
export function checkTarget(root: string, target: string): void {
  const way = relative(folderOf(root), resolve(target)).split(sep);
  if (way[0] !== '..')
    throw invalidArgument(`expected another folder than that of the damaged files and none in it, found ${target}`);
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
  if (existsSync(to)) throw alreadyExists(`expected no file at ${to}, found one: name another folder`);
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

interface SetAsideFile {
  readonly path: string;
  readonly since: string;
  readonly reason: string;
}

/** The files that sync has set aside: those in a `failed` folder, each with its reason in a file beside it. */
export function* setAsideFiles(folder: string): Generator<SetAsideFile> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* setAsideFiles(path);
    else if (entry.isFile() && isSetAside(path)) yield { path, ...reasonOf(path) };
  }
}

/** Moves a file back to its place, so that sync sends it again. @throws not_found, already_exists; failed_precondition: a damaged file */
export function releaseFile(path: string): string {
  if (!existsSync(path) || !isSetAside(path))
    throw notFound(`expected a file in a folder "failed" with its .reason beside it, found none at ${path}`);
  if (path.endsWith('.damaged'))
    throw failedPrecondition(
      `expected a file that can be sent again; the cloud already has the intact part of ${path}. Read it with platform capture cat, or delete it`,
    );
  const segments = dirname(path).split(sep);
  segments.splice(segments.lastIndexOf('failed'), 1);
  const to = join(segments.join(sep) || sep, basename(path));
  if (existsSync(to)) throw alreadyExists(`expected no file at ${to}, found one`);
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  renameSync(path, to);
  rmSync(`${path}.reason`, { force: true });
  return to;
}

function isSetAside(path: string): boolean {
  return dirname(path).split(sep).includes('failed') && existsSync(`${path}.reason`) && lstatSync(path).isFile();
}

function reasonOf(path: string): Pick<SetAsideFile, 'since' | 'reason'> {
  const [since = '', ...words] = readFileSync(`${path}.reason`, 'utf8').trim().split(' ');
  return { since, reason: words.join(' ') };
}
