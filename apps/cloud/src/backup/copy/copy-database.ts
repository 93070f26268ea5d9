/** Copies a SQLite file as of one moment while its owner keeps writing. */
import { existsSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { syncPath } from '../../instance/sync-path.ts';

/** All pages in one step, because a copy in several steps restarts whenever the owner commits in between. */
const allPages = 2 ** 31 - 1;

/** The copy is one file, without a write-ahead log, and durable except for its name. */
export async function copyDatabase(source: string, target: string): Promise<void> {
  {
    using db = new DatabaseSync(source, { readOnly: true, timeout: 30_000 });
    await backup(db, target, { rate: allPages });
  }
  {
    using copy = new DatabaseSync(target);
    copy.exec('pragma journal_mode = delete');
  }
  await syncPath(target);
}

/** Reads a database without writers. */
export function readDatabase<T>(file: string, read: (db: DatabaseSync) => T): T {
  using db = new DatabaseSync(file, { readOnly: true });
  return read(db);
}

/** Version of the tables in a file; 0 if it does not exist. */
export function versionOfFile(file: string): number {
  return existsSync(file) ? readDatabase(file, userVersion) : 0;
}

export function userVersion(db: DatabaseSync): number {
  return Number(db.prepare('pragma user_version').get()?.['user_version']);
}
