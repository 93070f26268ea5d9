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
    const inOrder = pending.flatMap(({ statements, sqliteOnly = [] }) => [...statements, ...sqliteOnly]);
    for (const statement of found === 0 ? withColumnsEarly(inOrder) : inOrder) db.exec(statement);
    db.exec(`pragma user_version = ${Math.trunc(newest)}`);
    db.exec('commit');
  } catch (caught) {
    if (db.isTransaction) db.exec('rollback');
    throw caught;
  }
}

/**
 * The statements for a new file, in an order that takes less time: SQLite reads the whole schema again for each added column, so the columns
 * that many tables get late are added when their tables are created, while there are few.
 */
function withColumnsEarly(statements: readonly string[]): readonly string[] {
  const late = new Map<string, string>();
  for (const statement of statements) {
    const [, table] = /^alter table (\w+) add column row_check text$/.exec(statement) ?? [];
    // A table that is built again would lose the column.
    if (table !== undefined && !statements.includes(`drop table ${table}`)) late.set(table, statement);
  }
  const early = new Set(late.values());
  return statements.flatMap((statement) => {
    if (early.has(statement)) return [];
    const added = late.get(/^create table (\w+)/.exec(statement)?.[1] ?? '');
    return added === undefined ? [statement] : [statement, added];
  });
}
