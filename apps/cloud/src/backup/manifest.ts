/**
 * The format of a backup: a directory with the files of a data directory and `backup.json`, which is written last.
 *
 * A directory without `backup.json` is an incomplete backup. The file lists everything else in the directory with size and SHA-256, and the
 * moment of the backup. Nothing in a backup changes after `backup.json` was written.
 */

export const manifestName = 'backup.json';
export const newestFormat = 1;

/** The database of metadata and log. */
export type StoreKind = 'sqlite' | 'postgres';

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
  return { format: 'platform-backup', version: newestFormat, ...manifest };
}
