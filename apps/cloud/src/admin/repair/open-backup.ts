/** A backup that repair takes from. */
import { type Manifest, readManifest } from '../../backup/manifest.ts';

export interface Backup {
  readonly directory: string;
  readonly manifest: Manifest;
  /** SHA-256 of its files by path. */
  readonly hashes: ReadonlyMap<string, string>;
}

/** @throws failed_precondition when there is no whole backup */
export function openBackup(directory: string): Backup {
  const manifest = readManifest(directory);
  return { directory, manifest, hashes: new Map(manifest.files.map(({ path, sha256 }) => [path, sha256])) };
}
