/** What shortens the log: truncation behind the followers (I12), forgetting anonymous uploads in time (D13), and blobs that are deleted. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

const expireRows = 5_000;

export class LogMaintenance {
  readonly #candidates: StatementSync;
  readonly #delete: StatementSync;
  readonly #damage: StatementSync;
  readonly #expire: StatementSync;
  readonly #forget: StatementSync;

  constructor(db: DatabaseSync) {
    // length() of a blob is read from the row's header, not from its pages.
    this.#candidates = db.prepare(
      `select position, length(batch) as bytes from log
       where position <= ? and position not in (select position from damaged) order by position limit ?`,
    );
    this.#delete = db.prepare('delete from log where position = ?');
    this.#damage = db.prepare(
      'insert into damaged (position, reason) values (?, ?) on conflict (position) do update set reason = excluded.reason',
    );
    this.#expire = db.prepare(
      `delete from dedup where (part, stream, seq) in
       (select part, stream, seq from dedup where settle_until is not null and settle_until < ? limit ${expireRows})`,
    );
    this.#forget = db.prepare('delete from blobs where path = ?');
  }

  truncate(upTo: number, maxRows: number): { rows: number; bytes: number } {
    let bytes = 0;
    const rows = this.#candidates.all(upTo, maxRows);
    for (const row of rows) {
      this.#delete.run(Number(row['position']));
      bytes += Number(row['bytes']);
    }
    return { rows: rows.length, bytes };
  }

  markDamaged(position: number, reason: string): { rows: number; bytes: number } {
    this.#damage.run(position, reason);
    return { rows: 1, bytes: 0 };
  }

  forgetBlobs(paths: readonly string[]): { rows: number; bytes: number } {
    for (const path of paths) this.#forget.run(path);
    return { rows: paths.length, bytes: 0 };
  }

  expire(nowMs: number): { rows: number; bytes: number } {
    return { rows: Number(this.#expire.run(nowMs).changes), bytes: 0 };
  }
}
