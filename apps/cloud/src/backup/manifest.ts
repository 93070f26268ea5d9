/**
 * The format of a backup: a directory with the files of a data directory and `backup.json`, which is written last.
 *
 * A directory without `backup.json` is an incomplete backup. The file lists everything else in the directory with size and SHA-256, and the
 * moment of the backup. Nothing in a backup changes after `backup.json` was written.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlatformError } from '@platform/base';

export const manifestName = 'backup.json';
/** 1: SQLite databases; 2: tables from Postgres, which programs that only know 1 cannot restore. */
const formatVersions = { sqlite: 1, postgres: 2 } as const;
const newestFormat = 2;

/** The database of metadata and log. */
export type StoreKind = keyof typeof formatVersions;

export interface BackedUpFile {
  /** Relative to the backup and to the data directory, segments joined by `/`. */
  readonly path: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** A file that belongs to the data but is missing from the backup because it was damaged or missing. */
export interface DamagedFile {
  readonly path: string;
  readonly reason: string;
}

/** Where the instance key is: not in the backup, in it as plain text, in it under a passphrase, or in the environment of the cloud. */
export type KeyPlace = 'left-out' | 'included' | 'passphrase' | 'environment';

export interface Manifest {
  readonly format: 'platform-backup';
  readonly version: number;
  /** Everything acknowledged before this instant is in the backup. */
  readonly createdMs: number;
  readonly program: string;
  readonly dataVersion: number;
  /** Absent: sqlite. */
  readonly store?: StoreKind;
  /** user_version of the databases, or schema_version. */
  readonly metaVersion: number;
  readonly ingestVersion: number;
  /** S, and the last position of the log. */
  readonly sealedPosition: number;
  readonly lastPosition: number;
  readonly instanceKey: KeyPlace;
  readonly files: readonly BackedUpFile[];
  /** Absent: no file was damaged. */
  readonly damaged?: readonly DamagedFile[];
}

export function newManifest(manifest: Omit<Manifest, 'format' | 'version'>): Manifest {
  return { format: 'platform-backup', version: formatVersions[manifest.store ?? 'sqlite'], ...manifest };
}

/** @throws failed_precondition if `directory` has no complete backup, or one written by a newer program */
export function readManifest(directory: string): Manifest {
  const file = join(directory, manifestName);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (caught) {
    throw new PlatformError(
      'failed_precondition',
      `${directory}: expected a backup with ${manifestName}, found none: this is not a backup, or an incomplete one`,
      caught,
    );
  }
  let manifest: Partial<Manifest>;
  try {
    manifest = JSON.parse(text);
  } catch (caught) {
    throw new PlatformError('data_loss', `${file}: expected JSON, found ${JSON.stringify(text.slice(0, 80))}`, caught);
  }
  if (manifest.format !== 'platform-backup' || !Array.isArray(manifest.files))
    throw new PlatformError('failed_precondition', `${file}: expected "format":"platform-backup", found another`);
  if (!(Number(manifest.version) >= 1 && Number(manifest.version) <= newestFormat))
    throw new PlatformError(
      'failed_precondition',
      `${file} has version ${manifest.version}, but this version reads only up to version ${newestFormat}: restore with the version that wrote it (${manifest.program})`,
    );
  for (const { path } of manifest.files as readonly BackedUpFile[]) {
    if (path.split('/').some((segment) => segment === '' || segment === '..' || segment === '.') || /[\0\\]/.test(path))
      throw new PlatformError('data_loss', `${file}: expected paths below the backup, found ${JSON.stringify(path)}`);
  }
  return manifest as Manifest;
}
