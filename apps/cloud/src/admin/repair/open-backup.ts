/** The backup from which repair restores. */
import type { Manifest } from '../../backup/manifest.ts';
import { readManifest } from '../../backup/read-manifest.ts';

export interface Backup {
  readonly directory: string;
  readonly manifest: Manifest;
  /** SHA-256 of each file, by path. */
  readonly hashes: ReadonlyMap<string, string>;
}

/** @throws failed_precondition if the directory has no complete backup */
export async function openBackup(directory: string): Promise<Backup> {
  const manifest = await readManifest(directory);
  return { directory, manifest, hashes: new Map(manifest.files.map(({ path, sha256 }) => [path, sha256])) };
}
