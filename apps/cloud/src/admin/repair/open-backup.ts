/** The backup from which repair restores. */
import { type Manifest, readManifest } from '../../backup/manifest.ts';

export interface Backup {
  readonly directory: string;
  readonly manifest: Manifest;
  /** SHA-256 of each file, by path. */
  readonly hashes: ReadonlyMap<string, string>;
}

/** @throws failed_precondition if the directory has no complete backup */
export function openBackup(directory: string): Backup {
  const manifest = readManifest(directory);
  return { directory, manifest, hashes: new Map(manifest.files.map(({ path, sha256 }) => [path, sha256])) };
}
