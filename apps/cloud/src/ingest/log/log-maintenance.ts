/**
 * All changes of the log except appends: truncation up to the slowest follower (I12), removal of records of anonymous uploads (D13) and of
 * deleted blobs, and recording of lost and restored rows (D33).
 */
import type { DatabaseSync } from 'node:sqlite';
import { lossOf, lossRow } from '../losses/known-losses.ts';
import { mayRestore, type RecognisedUpload } from '../losses/may-restore.ts';
import { rowChecksums, type VerifiedRow } from '../losses/row-checksums.ts';
import { subtractPosition } from '../losses/subtract-position.ts';
import type { StoredRow } from '../losses/verify-rows.ts';
import type { LogLoss } from './log.ts';

const expireRows = 5_000;
/**
 * Bytes of batches that one truncation removes. SQLite reads every page that it frees, and uploads that arrive in the meantime wait for
 * that.
 */
const truncatedBytes = 1 << 20;

/** How many rows a call changed, and by how many bytes of batches. */
export interface Maintained {
  readonly rows: number;
  readonly bytes: number;
}

/** Each call runs within a group commit. */
export class LogMaintenance {
  readonly #sql: ReturnType<typeof statements>;

  constructor(db: DatabaseSync) {
    this.#sql = statements(db);
  }

  truncate(upTo: number, maxRows: number): Maintained {
    let [rows, bytes] = [0, 0];
    for (const row of this.#sql.candidates.all(upTo, maxRows)) {
      if (bytes >= truncatedBytes) break;
      this.#sql.delete.run(Number(row['position']));
      rows++;
      bytes += Number(row['bytes']);
    }
    return { rows, bytes };
  }

  markDamaged(position: number, reason: string): Maintained {
    this.#sql.damage.run(position, reason);
    return { rows: 1, bytes: 0 };
  }

  recordLoss(loss: LogLoss): Maintained {
    const { first, last, reason } = loss;
    this.#sql.lose.run(...lossRow(loss));
    if (first === last) this.#sql.keep.run(reason, first);
    return { rows: 1, bytes: 0 };
  }

  acceptLosses(nowMs: number): Maintained {
    this.#sql.release.run();
    return { rows: Number(this.#sql.accept.run(nowMs).changes), bytes: 0 };
  }

  /** `rows` is 0 when the position holds another upload; `bytes` is how many were added. */
  restoreRow(row: VerifiedRow): Maintained {
    const { position, partId, stream, seq, sha256, batch } = row;
    const stored = this.#sql.row.get(position) as unknown as StoredRow | undefined;
    const recognised = this.#sql.recognised.all(position) as unknown as RecognisedUpload[];
    if (!mayRestore(row, stored, recognised)) return { rows: 0, bytes: 0 };
    const { head, batch: whole } = rowChecksums(row);
    this.#sql.restore.run(position, partId, stream, seq, sha256, batch, head, whole);
    const before = stored?.batch instanceof Uint8Array ? stored.batch.length : 0;
    return { rows: 1, bytes: batch.length - before };
  }

  endLosses(position: number): Maintained {
    this.#sql.leave.run(position);
    const losses = this.#sql.lossesAt.all(position, position).map(lossOf);
    for (const loss of losses) this.#sql.end.run(loss.lossIn, loss.first);
    for (const left of losses.flatMap((loss) => subtractPosition(loss, position))) this.#sql.lose.run(...lossRow(left));
    return { rows: losses.length, bytes: 0 };
  }

  resumeAfter(position: number): Maintained {
    if (Number(this.#sql.raise.run(position).changes) === 0) this.#sql.begin.run(position);
    return { rows: 0, bytes: 0 };
  }

  forgetBlobs(paths: readonly string[]): Maintained {
    for (const path of paths) this.#sql.forget.run(path);
    return { rows: paths.length, bytes: 0 };
  }

  expire(nowMs: number): Maintained {
    return { rows: Number(this.#sql.expire.run(nowMs).changes), bytes: 0 };
  }
}

function statements(db: DatabaseSync) {
  return {
    // length() of a blob is read from the row's header, not from its pages.
    candidates: db.prepare(
      `select position, length(batch) as bytes from log
       where position <= ? and position not in (select position from damaged) order by position limit ?`,
    ),
    delete: db.prepare('delete from log where position = ?'),
    damage: db.prepare(
      'insert into damaged (position, reason) values (?, ?) on conflict (position) do update set reason = excluded.reason',
    ),
    expire: db.prepare(
      `delete from dedup where (part, stream, seq) in
       (select part, stream, seq from dedup where settle_until is not null and settle_until < ? limit ${expireRows})`,
    ),
    forget: db.prepare('delete from blobs where path = ?'),
    lose: db.prepare(
      `insert into losses (loss_in, first_position, last_position, parts, reason, found_ms) values (?, ?, ?, ?, ?, ?)
       on conflict (loss_in, first_position) do update set last_position = excluded.last_position, accepted_ms = null`,
    ),
    keep: db.prepare(
      'insert into damaged (position, reason) select position, ? from log where position = ? on conflict (position) do nothing',
    ),
    accept: db.prepare('update losses set accepted_ms = ? where accepted_ms is null'),
    release: db.prepare(
      'delete from damaged where position in (select first_position from losses where first_position = last_position)',
    ),
    row: db.prepare('select * from log where position = ?'),
    recognised: db.prepare('select part, stream, seq, sha256 from dedup where position = ?'),
    restore: db.prepare(
      `insert or replace into log (position, part, stream, seq, sha256, batch, head_checksum, batch_checksum)
       values (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    leave: db.prepare('delete from damaged where position = ?'),
    lossesAt: db.prepare(
      'select * from losses where first_position <= ? and last_position >= ? and accepted_ms is null',
    ),
    end: db.prepare('delete from losses where loss_in = ? and first_position = ?'),
    raise: db.prepare("update sqlite_sequence set seq = max(seq, ?) where name = 'log'"),
    begin: db.prepare("insert into sqlite_sequence (name, seq) values ('log', ?)"),
  };
}
