/** Reads whole tables as of one moment, row by row, beside a running cloud and without delaying it. */
import type { Clock } from '@platform/base';
import { openReadable } from '../sqlite/sqlite-file.ts';
import type { StoreKind } from './row-check-sql.ts';

export interface RowReader extends AsyncDisposable {
  readonly kind: StoreKind;
  /** Values as text. */
  eachRow(sql: string, take: (row: readonly (string | null)[]) => void): Promise<void>;
}

export interface RowStore {
  /** Used with SQLite. */
  readonly file: string;
  /** `postgres://…`: the file is then not used. */
  readonly database: string | undefined;
}

/** Rows and characters read in SQLite at once: on this thread, so a few milliseconds. Between them it rests four times as long. */
const rowsAtOnce = 500;
const charactersAtOnce = 1_000_000;
const restMs = 12;

/** @param clock undefined if this process serves nothing meanwhile, so that reading need not rest */
export async function openRowReader(
  { file, database }: RowStore,
  clock: Clock | undefined,
  signal: AbortSignal,
): Promise<RowReader> {
  if (database !== undefined) {
    const { openSnapshot } = await import('../postgres/open-snapshot.ts');
    const snapshot = await openSnapshot(database, undefined, signal);
    return {
      kind: 'postgres',
      eachRow: (sql, take) => snapshot.eachRow(sql, take),
      [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose](),
    };
  }
  const db = openReadable(file);
  db.exec('begin');
  return {
    kind: 'sqlite',
    async eachRow(sql, take) {
      const statement = db.prepare(sql);
      statement.setReturnArrays(true);
      let [rows, characters] = [0, 0];
      for (const row of statement.iterate()) {
        const texts = Object.values(row).map((value) => (value === null ? null : String(value)));
        take(texts);
        rows++;
        for (const text of texts) characters += text?.length ?? 0;
        if (rows < rowsAtOnce && characters < charactersAtOnce) continue;
        [rows, characters] = [0, 0];
        await clock?.sleep(restMs, signal);
      }
    },
    async [Symbol.asyncDispose]() {
      db.close();
    },
  };
}
