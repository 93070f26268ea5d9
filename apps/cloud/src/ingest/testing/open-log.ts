/** Opens an ingest log in a separate store, for tests. */
import { DatabaseSync } from 'node:sqlite';
import { type Clock, silentLog, systemClock } from '@platform/base';
import { openTestStore, type StoreKind } from '../../metadata/testing/test-store.ts';
import { throwUncaught } from '../../metadata/testing/throw-uncaught.ts';
import type { IngestLog } from '../log/log.ts';
import { openIngestLog } from '../log/open-ingest-log.ts';

export interface TestLog extends AsyncDisposable {
  /** Stays valid after `reopen`, except for its listeners. */
  readonly log: IngestLog;
  /** Closes the log and opens it again, as a restart does. */
  reopen(): Promise<void>;
  /** Reads its tables over another connection. */
  rows(query: string): Promise<readonly Record<string, unknown>[]>;
  /** Changes its tables without its knowledge and opens it again; until then followers have sound rows in memory. */
  damage(statement: string): Promise<void>;
}

export async function openTestLog(clock: Clock = systemClock, kind?: StoreKind): Promise<TestLog> {
  const store = await openTestStore(kind);
  const { database } = store;
  const file = store.directory.file('ingest.sqlite');
  let log = await openIngestLog({ onFatal: throwUncaught, file, database, log: silentLog, clock });
  const reopen = async (): Promise<void> => {
    await log[Symbol.asyncDispose]();
    log = await openIngestLog({ onFatal: throwUncaught, file, database, log: silentLog, clock });
  };
  const change = async (statement: string): Promise<void> => {
    if (database !== undefined) return void (await store.administer(`set search_path = ingest; ${statement}`));
    using db = new DatabaseSync(file, { timeout: 60_000 });
    db.exec(statement);
  };
  return {
    log: new Proxy({} as IngestLog, { get: (_, key) => log[key as keyof IngestLog] }),
    reopen,
    async rows(query) {
      if (database !== undefined) return store.administer(`set search_path = ingest; ${query}`);
      using db = new DatabaseSync(file, { readOnly: true });
      return db.prepare(query).all();
    },
    async damage(statement) {
      await change(statement);
      await reopen();
    },
    async [Symbol.asyncDispose]() {
      await log[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}
