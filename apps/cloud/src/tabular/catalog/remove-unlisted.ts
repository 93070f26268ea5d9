/** Removes what the Parquet directory holds but the catalog does not list: what a crash left of a seal (I9, I14). */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Only while no child runs. Answers the names that went. */
export async function removeUnlisted(parquetDir: string, listed: ReadonlySet<string>): Promise<string[]> {
  const removed: string[] = [];
  for (const entry of await readdir(parquetDir, { withFileTypes: true })) {
    // Ours are files of readings, half-written ones, and DuckDB's temporary folders; anything else was put there by someone.
    const ours = /\.parquet(\.tmp)?$/.test(entry.name) || /^\.tmp(-write)?$/.test(entry.name);
    if (!ours || listed.has(entry.name)) continue;
    await rm(join(parquetDir, entry.name), { recursive: true, force: true });
    removed.push(entry.name);
  }
  return removed;
}
