/** Upgrades a SQLite file to the version of this program, in one transaction; `user_version` holds its version. */
import type { DatabaseSync } from 'node:sqlite';
import { PlatformError } from '@platform/base';
import type { Migration } from './writer-protocol.ts';

/** Throws failed_precondition, without changes, if the file is newer than the newest migration. */
export function migrate(db: DatabaseSync, migrations: readonly Migration[], file: string): void {
  const found = Number(db.prepare('pragma user_version').get()?.['user_version']);
  const newest = migrations.reduce((version, migration) => Math.max(version, migration.version), 0);
  if (found > newest) {
    throw new PlatformError(
      'failed_precondition',
      `${file} has version ${found}, but this version supports only versions up to ${newest}: start the newer version that wrote it`,
    );
  }
  const pending = migrations.filter(({ version }) => version > found);
  if (pending.length === 0) return;
  db.exec('begin immediate');
  try {
    for (const { version, statements, sqliteOnly = [] } of pending) {
      for (const statement of [...statements, ...sqliteOnly]) db.exec(statement);
      db.exec(`pragma user_version = ${Math.trunc(version)}`);
    }
    db.exec('commit');
  } catch (caught) {
    if (db.isTransaction) db.exec('rollback');
    throw caught;
  }
}
