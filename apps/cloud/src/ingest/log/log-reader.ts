/** Reads of the ingest log on the caller's thread: each sees a prefix of the committed rows (I3). */
import type { DatabaseSync } from 'node:sqlite';
import { openReadable } from '../../metadata/sqlite/sqlite-file.ts';
import { lossOf } from '../losses/known-losses.ts';
import { missingBefore, missingRow, type StoredRow, verifyRow } from '../losses/verify-rows.ts';
import type { DamagedRow, LogEntry, LogLoss, LogRow, ReadLimit } from './log.ts';

export class LogReader implements Disposable {
  readonly #sql: ReturnType<typeof statements>;
  readonly #db: DatabaseSync;

  constructor(file: string) {
    this.#db = openReadable(file);
    this.#sql = statements(this.#db);
  }

  read(after: number, limit: ReadLimit): LogRow[] {
    const rows: LogRow[] = [];
    let bytes = 0;
    for (const stored of this.#sql.rows.iterate(after, limit.rows)) {
      const length = (stored['batch'] as Uint8Array | null)?.length ?? 0;
      if (rows.length > 0 && bytes + length > limit.bytes) break;
      rows.push(verifyRow(stored as unknown as StoredRow));
      bytes += length;
    }
    return rows;
  }

  follow(after: number, limit: ReadLimit): LogRow[] {
    const rows: LogRow[] = [];
    let position = after;
    for (const row of this.read(after, limit)) {
      const missing = missingBefore(position, row);
      if (missing !== null) rows.push(this.#missing(missing));
      rows.push(row);
      ({ position } = row);
    }
    if (rows.length > 0) return rows;
    const ends = this.#sql.ends.get();
    const [held, given] = [Number(ends?.['held'] ?? 0), Number(ends?.['given'] ?? 0)];
    return given > after && held <= after ? [this.#missing({ first: after + 1, last: given })] : [];
  }

  #missing({ first, last }: { readonly first: number; readonly last: number }): LogRow {
    return missingRow(
      first,
      last,
      this.#sql.owners.all(first, last).map(({ part }) => String(part)),
    );
  }

  damaged(): DamagedRow[] {
    return this.#sql.damaged.all().map((row) => ({ position: Number(row['position']), reason: String(row['reason']) }));
  }

  losses(): LogLoss[] {
    return this.#sql.losses.all().map(lossOf);
  }

  hasBlob(path: string): boolean {
    return this.#sql.blob.get(path) !== undefined;
  }

  isKnown({ partId, stream, seq }: Pick<LogEntry, 'partId' | 'stream' | 'seq'>): boolean {
    return this.#sql.known.get(partId, stream, seq) !== undefined;
  }

  reusableBytes(): number {
    return Number(this.#sql.reusable.get()?.['bytes'] ?? 0);
  }

  [Symbol.dispose](): void {
    if (this.#db.isOpen) this.#db.close();
  }
}

function statements(db: DatabaseSync) {
  return {
    rows: db.prepare('select * from log where position > ? order by position limit ?'),
    // One statement, so that both values are read at the same moment.
    ends: db.prepare(
      "select (select max(position) from log) as held, (select seq from sqlite_sequence where name = 'log') as given",
    ),
    losses: db.prepare('select * from losses order by first_position'),
    owners: db.prepare('select part from dedup where position between ? and ?'),
    damaged: db.prepare('select position, reason from damaged order by position'),
    reusable: db.prepare('select freelist_count * page_size as bytes from pragma_freelist_count, pragma_page_size'),
    blob: db.prepare('select 1 from blobs where path = ?'),
    known: db.prepare(
      `select 1 from dedup where part = ?1 and stream = ?2 and seq = ?3
       union all select 1 from streams where part = ?1 and stream = ?2 and floor > ?3`,
    ),
  };
}
