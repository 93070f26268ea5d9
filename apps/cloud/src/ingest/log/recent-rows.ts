/**
 * The rows that were committed last, for followers of the log: one that keeps up needs no read of the store, which would take this thread
 * as long as the upload itself took.
 */
import type { LogRow, ReadLimit } from './log.ts';

/** What is held at most; who is further behind reads the store. */
const maxRows = 1_024;
const maxBytes = 8 * 1024 * 1024;

export class RecentRows {
  /** Positions that follow each other. */
  readonly #rows: LogRow[] = [];
  #bytes = 0;

  /** @param row committed; its bytes are never changed again. */
  add(row: LogRow): void {
    const last = this.#rows.at(-1);
    if (last !== undefined && row.position !== last.position + 1) this.#drop(this.#rows.length);
    this.#rows.push(row);
    this.#bytes += row.batch.length;
    let excess = 0;
    for (let bytes = this.#bytes; bytes > maxBytes || this.#rows.length - excess > maxRows; excess++)
      bytes -= this.#rows[excess]?.batch.length ?? 0;
    this.#drop(excess);
  }

  /** Rows after a position, at least one; undefined: the store has to be read. */
  after(position: number, limit: ReadLimit): readonly LogRow[] | undefined {
    const from = position + 1 - (this.#rows[0]?.position ?? Number.POSITIVE_INFINITY);
    if (from < 0 || from >= this.#rows.length) return undefined;
    const rows: LogRow[] = [];
    let bytes = 0;
    for (let at = from; at < this.#rows.length && rows.length < limit.rows; at++) {
      const row = this.#rows[at] as LogRow;
      bytes += row.batch.length;
      if (rows.length > 0 && bytes > limit.bytes) break;
      rows.push(row);
    }
    return rows;
  }

  #drop(count: number): void {
    for (const row of this.#rows.splice(0, count)) this.#bytes -= row.batch.length;
  }
}
