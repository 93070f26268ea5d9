/** Upgrades a SQLite file to the version of this program, in one transaction; `user_version` holds its version. */
import type { DatabaseSync } from 'node:sqlite';
import { requireReadable, versionsOf } from '../baseline-version.ts';
import type { Migration } from './writer-protocol.ts';

/** Throws failed_precondition, without changes, if the file is newer than the newest migration, or older than the first. */
export function migrate(db: DatabaseSync, migrations: readonly Migration[], file: string): void {
  const readable = versionsOf(migrations);
  const found = versionIn(db);
  if (found > 0) requireReadable(found, readable, file);
  if (found === readable.newest) return;
  db.exec('begin immediate');
  try {
    // Another process may have upgraded the file in the meantime.
    const from = versionIn(db);
    for (const { statements, sqliteOnly = [] } of migrations.filter(({ version }) => version > from))
      for (const statement of [...statements, ...sqliteOnly]) db.exec(statement);
    db.exec(`pragma user_version = ${Math.trunc(readable.newest)}`);
    db.exec('commit');
  } catch (caught) {
    if (db.isTransaction) db.exec('rollback');
    throw caught;
  }
}

function versionIn(db: DatabaseSync): number {
  return Number(db.prepare('pragma user_version').get()?.['user_version']);
}
