/**
 * The most recently committed rows, for followers of the log. A follower that keeps up need not read the store, which would occupy this
 * thread for as long as the upload itself.
 */
import type { LogRow, ReadLimit } from './log.ts';

/** Limits of what is kept; followers further behind read the store. */
const maxRows = 1_024;
const maxBytes = 8 * 1024 * 1024;

export class RecentRows {
  /** Rows at consecutive positions. */
  readonly #rows: LogRow[] = [];
  #bytes = 0;

  /** @param row committed; its bytes must not change afterwards */
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

  /** Rows after a position, at least one; undefined: the store must be read. */
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
