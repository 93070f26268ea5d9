/**
 * The most recently committed rows, for followers of the log. A follower that keeps up need not read the store, which would occupy this
 * thread for as long as the upload itself.
 */
import type { Clock } from '@platform/base';
import type { LogRow, ReadLimit } from './log.ts';

/**
 * Limits of what is kept; followers further behind read the store. The newest row is kept whatever its size, for a time in which followers
 * that keep up have taken it: reading 32 MiB from the store for each of them would hold up everybody (D48).
 */
const maxRows = 1_024;
const maxBytes = 8 * 1024 * 1024;
const largeRowMs = 5_000;

export class RecentRows implements Disposable {
  /** Rows at consecutive positions. */
  readonly #rows: LogRow[] = [];
  #bytes = 0;
  readonly #clock: Clock;
  #large: Disposable | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param row committed; its bytes must not change afterwards */
  add(row: LogRow): void {
    const last = this.#rows.at(-1);
    if (last !== undefined && row.position !== last.position + 1) this.#drop(this.#rows.length);
    this.#rows.push(row);
    this.#bytes += row.batch.length;
    const newest = this.#rows.length - 1;
    let excess = 0;
    for (
      let bytes = this.#bytes;
      excess < newest && (bytes > maxBytes || this.#rows.length - excess > maxRows);
      excess++
    )
      bytes -= this.#rows[excess]?.batch.length ?? 0;
    this.#drop(excess);
    this.#large?.[Symbol.dispose]();
    this.#large =
      this.#bytes > maxBytes ? this.#clock.after(largeRowMs, () => this.#drop(this.#rows.length)) : undefined;
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

  /** Keeps nothing any longer. */
  [Symbol.dispose](): void {
    this.#large?.[Symbol.dispose]();
  }

  #drop(count: number): void {
    for (const row of this.#rows.splice(0, count)) this.#bytes -= row.batch.length;
  }
}
