/** The watch over the rows of a test's store, and changes of them that the cloud does not know of. */
import { DatabaseSync } from 'node:sqlite';
import { type Clock, type Log, silentLog, systemClock } from '@platform/base';
import { migrations } from '../migrations.ts';
import { checkedTablesOf } from '../row-checks/checked-tables-of.ts';
import { openRowReader } from '../row-checks/open-row-reader.ts';
import { createRowWatch, type RowWatch } from '../row-checks/row-watch.ts';
import type { Database } from '../tables.ts';
import type { TestStore } from './test-store.ts';

export function testRowWatch(
  db: Database,
  { file, database }: { readonly file: string; readonly database: string | undefined },
  { clock = systemClock, log = silentLog }: { readonly clock?: Clock; readonly log?: Log } = {},
): RowWatch {
  return createRowWatch({
    ...{ db, clock, log, tables: checkedTablesOf(migrations) },
    kind: database === undefined ? 'sqlite' : 'postgres',
    openReader: (signal) => openRowReader({ file, database }, undefined, signal),
  });
}

/** As another program, or a person with the database's own command line. */
export async function alterRows(store: TestStore, statement: string): Promise<void> {
  if (store.kind === 'postgres') {
    await store.administer(`set search_path = meta; ${statement}`);
    return;
  }
  using db = new DatabaseSync(store.directory.file('meta.sqlite'), { timeout: 10_000 });
  db.exec(statement);
}
