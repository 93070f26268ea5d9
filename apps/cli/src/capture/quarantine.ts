/** The files that sync has set aside: those in a `failed` folder, each with its reason in a file beside it. */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { PlatformError } from '@platform/sdk/cloud';

export interface SetAsideFile {
  readonly path: string;
  readonly since: string;
  readonly reason: string;
}

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
    throw new PlatformError(
      'not_found',
      `expected a file in a folder "failed" with its .reason beside it, found none at ${path}`,
    );
  if (path.endsWith('.damaged'))
    throw new PlatformError(
      'failed_precondition',
      `expected a file that can be sent again; the cloud already has the intact part of ${path}. Read it with platform capture cat, or delete it`,
    );
  const segments = dirname(path).split(sep);
  segments.splice(segments.lastIndexOf('failed'), 1);
  const to = join(segments.join(sep) || sep, basename(path));
  if (existsSync(to)) throw new PlatformError('already_exists', `expected no file at ${to}, found one`);
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
