/**
 * The data directory: it is claimed, versioned and locked before any store in it is opened.
 *
 * `platform.json` marks a directory as ours and records its layout version and its stage. Stages: `new` (from the claim until a first start
 * has printed the owner key) → `complete`. A directory of an older version is opened unchanged; after its stores are upgraded
 * (open-stores.ts), `upgraded` records the new version. In a complete directory the stores must exist: if one is missing or empty,
 * something removed it, and nothing is created in its place. `lock` names the process that holds the directory; a lock whose process no
 * longer exists is taken over. Nothing is written into a directory that is not ours.
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { failedPrecondition, PlatformError } from '@platform/base';
import { claimProcessLock } from './instance/claim-process-lock.ts';
import { makeDirectory, syncNames } from './instance/make-directory.ts';
import { writeFileAtomic } from './instance/write-file-atomic.ts';
import { baselineVersion, requireReadable } from './metadata/baseline-version.ts';

/** Layout version that this program reads and writes. */
export const dataVersion: number = baselineVersion;

const markerName = 'platform.json';
const stores = ['meta.sqlite', 'ingest.sqlite'];
/** Replaces the local stores if they are in Postgres (metadata/claim-installation.ts). */
const postgresStores = ['postgres.json'];

type Stage = 'new' | 'complete';

export interface DataDirectory extends Disposable {
  readonly path: string;
  /** True until a first start is completed: the owner key has not been printed yet. */
  readonly isNew: boolean;
  /** Layout version found on opening: `dataVersion`, or an older one until `upgraded` is called. */
  readonly foundVersion: number;
  /** Absolute path of a file or folder in it. */
  at(...names: string[]): string;
  /** Marks the first start as completed: from now on the stores must exist. */
  complete(): void;
  /** Records that the stores are of version `dataVersion`. */
  upgraded(): void;
}

/** To be called before anything is written, the lock included. @throws failed_precondition if the directory has a version that is not read */
export function requireReadableDirectory(path: string): void {
  if (existsSync(join(path, markerName))) readMarker(path);
}

/**
 * Opens or creates the data directory at `path`.
 *
 * @param needsKeyFile whether the instance key is kept in the directory.
 * @param inPostgres whether metadata and ingest log are in Postgres instead of the directory.
 * @throws failed_precondition naming what was expected and found if the directory is not ours, newer, damaged, in use, incomplete or not
 * writable.
 */
export function openDataDirectory(path: string, needsKeyFile = true, inPostgres = false): DataDirectory {
  requireReadableDirectory(path);
  prepare(path);
  const found = listing(path);
  if (!found.includes(markerName)) refuseForeign(path, found);
  const lock = writing(path, () => claimProcessLock(join(path, 'lock'), `data directory ${path}`));
  try {
    const { stage, version } = found.includes(markerName) ? readMarker(path) : mark(path, 'new', dataVersion);
    refuseOtherStore(path, found, inPostgres);
    const needed = inPostgres ? postgresStores : stores;
    if (stage === 'complete') refuseIncomplete(path, needsKeyFile ? [...needed, 'instance.key'] : needed);
    probe(path);
    return {
      path,
      isNew: stage === 'new',
      foundVersion: version,
      at: (...names) => join(path, ...names),
      complete: () => void mark(path, 'complete', dataVersion),
      upgraded: () => void mark(path, stage, dataVersion),
      [Symbol.dispose]: () => lock[Symbol.dispose](),
    };
  } catch (caught) {
    lock[Symbol.dispose]();
    throw caught;
  }
}

function prepare(path: string): void {
  writing(path, () => {
    makeDirectory(path);
    syncNames(resolve(path));
  });
  if (!statSync(path).isDirectory()) {
    throw failedPrecondition(
      `data directory ${path}: expected a directory, found a file. Choose another directory with --data DIR`,
    );
  }
}

function listing(path: string): readonly string[] {
  return writing(path, () => readdirSync(path));
}

function refuseForeign(path: string, found: readonly string[]): void {
  const foreign = found.filter(
    (name) => !/^(lock(\.\d+|\.stale\.\d+)?|lost\+found|platform\.json\.\d+\.new)$/.test(name),
  );
  if (foreign.length === 0) return;
  const shown = foreign.slice(0, 3).join(', ') + (foreign.length > 3 ? `, … (${foreign.length} entries)` : '');
  throw failedPrecondition(
    `data directory ${path} is not ours: expected it to be empty or to contain ${markerName}, found ${shown}. Nothing was changed; choose another directory with --data DIR`,
  );
}

interface Marker {
  readonly stage: Stage;
  readonly version: number;
}

function mark(path: string, stage: Stage, version: number): Marker {
  writing(path, () =>
    writeFileAtomic(join(path, markerName), `${JSON.stringify({ format: 'platform-data', version, stage })}\n`),
  );
  return { stage, version };
}

function readMarker(path: string): Marker {
  const file = join(path, markerName);
  const text = readFileSync(file, 'utf8');
  const refused = (expected: string): PlatformError =>
    failedPrecondition(
      `${file}: expected ${expected}, found ${JSON.stringify(text.slice(0, 120))}. Nothing was changed`,
    );
  let marker: unknown;
  try {
    marker = JSON.parse(text);
  } catch {
    throw refused('JSON');
  }
  if (typeof marker !== 'object' || marker === null) throw refused('an object');
  const { format, version, stage } = marker as { format?: unknown; version?: unknown; stage?: unknown };
  if (format !== 'platform-data') throw refused('"format":"platform-data": this data directory is not ours');
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1)
    throw refused('"version" to be a whole number from 1');
  requireReadable(version, { oldest: baselineVersion, newest: dataVersion }, `data directory ${path}`);
  if (stage !== 'new' && stage !== 'complete') throw refused('"stage" to be "new" or "complete"');
  return { stage, version };
}

function refuseIncomplete(path: string, names: readonly string[]): void {
  const missing = names.filter((name) => (statSync(join(path, name), { throwIfNoEntry: false })?.size ?? 0) === 0);
  if (missing.length === 0) return;
  throw failedPrecondition(
    `data directory ${path}: expected ${missing.join(' and ')} of earlier starts, found ${missing.length === 1 ? 'it' : 'them'} missing or empty. Nothing was changed; restore from a backup, or choose another directory with --data DIR`,
  );
}

function refuseOtherStore(path: string, found: readonly string[], inPostgres: boolean): void {
  const [other] = (inPostgres ? stores : postgresStores).filter((name) => found.includes(name));
  if (other === undefined) return;
  throw failedPrecondition(
    inPostgres
      ? `data directory ${path}: PLATFORM_DATABASE_URL is set, but this installation is in SQLite (${other}). Nothing was changed; unset it, or choose another directory with --data DIR`
      : `data directory ${path}: this installation is in Postgres (${other}), but PLATFORM_DATABASE_URL is not set. Nothing was changed; set it, or choose another directory with --data DIR`,
  );
}

function probe(path: string): void {
  const file = join(path, '.writable');
  writing(path, () => {
    writeFileSync(file, '');
    rmSync(file);
  });
}

/** Runs one file system operation; if it fails, the error names the path and a remedy. */
function writing<T>(path: string, access: () => T): T {
  try {
    return access();
  } catch (caught) {
    if (caught instanceof PlatformError) throw caught;
    const { code, message } = caught as NodeJS.ErrnoException;
    const why =
      code === 'ENOSPC'
        ? 'the disk is full: free some space'
        : code === 'EROFS'
          ? 'the file system is read-only'
          : message;
    throw failedPrecondition(
      `data directory ${path} cannot be written: ${why}. Choose another directory with --data DIR, or make it writable for this user`,
      caught,
    );
  }
}
