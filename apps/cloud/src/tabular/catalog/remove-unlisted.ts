/** Removes files in the Parquet directory that the catalog does not list: leftovers of a seal that crashed (I9, I14). */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Must be called only while no child runs. Returns the names of the removed files. */
export async function removeUnlisted(parquetDir: string, listed: ReadonlySet<string>): Promise<string[]> {
  const removed: string[] = [];
  for (const entry of await readdir(parquetDir, { withFileTypes: true })) {
    // The store creates files of readings, incomplete ones and DuckDB's temporary folders. Nothing else belongs to it.
    const ours = /\.parquet(\.tmp)?$/.test(entry.name) || /^\.tmp(-write)?$/.test(entry.name);
    if (!ours || listed.has(entry.name)) continue;
    await rm(join(parquetDir, entry.name), { recursive: true, force: true });
    removed.push(entry.name);
  }
  return removed;
}
