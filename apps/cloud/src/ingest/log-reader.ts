/** Reads of the ingest log on the caller's thread: each sees a prefix of what is committed (I3). */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { openReadable } from '../metadata/sqlite-file.ts';
import type { DamagedRow, LogRow, ReadLimit } from './log.ts';

export class LogReader implements Disposable {
  readonly #db: DatabaseSync;
  readonly #rows: StatementSync;
  readonly #damaged: StatementSync;
  readonly #blob: StatementSync;

  constructor(file: string) {
    this.#db = openReadable(file);
    this.#rows = this.#db.prepare('select position, part, batch from log where position > ? order by position limit ?');
    this.#damaged = this.#db.prepare('select position, reason from damaged order by position');
    this.#blob = this.#db.prepare('select 1 from blobs where path = ?');
  }

  read(after: number, limit: ReadLimit): LogRow[] {
    const rows: LogRow[] = [];
    let bytes = 0;
    for (const row of this.#rows.iterate(after, limit.rows)) {
      const batch = row['batch'] as Uint8Array;
      if (rows.length > 0 && bytes + batch.length > limit.bytes) break;
      rows.push({ position: Number(row['position']), partId: String(row['part']), batch });
      bytes += batch.length;
    }
    return rows;
  }

  damaged(): DamagedRow[] {
    return this.#damaged.all().map((row) => ({ position: Number(row['position']), reason: String(row['reason']) }));
  }

  hasBlob(path: string): boolean {
    return this.#blob.get(path) !== undefined;
  }

  [Symbol.dispose](): void {
    if (this.#db.isOpen) this.#db.close();
  }
}
