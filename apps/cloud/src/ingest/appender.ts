/**
 * What one group commit of the ingest log does, without the thread around it: dedup, floors and the append in one transaction.
 *
 * For each entry, in this order (I5, I6):
 *   its floor is above the stored one → store it, drop the dedup rows below
 *   its seq is below the stored floor → settled
 *   its key is known, same hash       → repeated, with the first copy's position and file id; appended in its place when what the
 *                                       first copy brought was deleted, which the entry says by naming its position (D13)
 *   its key is known, other hash      → conflict: kept aside, the first copy stays
 *   otherwise                         → appended, with its dedup row
 * Nothing may be told to anyone before `commit` returned (I2).
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { LogEntry } from './log.ts';
import { rowChecksums } from './row-checksums.ts';

export type Outcome =
  | { readonly outcome: 'appended'; readonly position: number; readonly fileId: string }
  | ({ readonly outcome: 'repeated' } & FirstCopy)
  | { readonly outcome: 'settled' | 'conflict'; readonly position: null; readonly fileId: string };

export interface FirstCopy {
  readonly position: number;
  readonly fileId: string;
  /** Of the entry that it came with. */
  readonly settleUntil: number | null;
}

/** Uploads of one part that are kept aside; beyond it a conflict is refused all the same, but not kept. */
export const maxConflicts = 1_000;

export class Appender {
  readonly #db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #given: StatementSync;
  readonly #floor: StatementSync;
  readonly #raiseFloor: StatementSync;
  readonly #dropSettled: StatementSync;
  readonly #find: StatementSync;
  readonly #remember: StatementSync;
  readonly #keepAside: StatementSync;
  readonly #nameBlob: StatementSync;
  #lastPosition = 0;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#insert = db.prepare(
      'insert into log (position, part, stream, seq, sha256, batch, head_checksum, batch_checksum) values (?, ?, ?, ?, ?, ?, ?, ?)',
    );
    this.#given = db.prepare("select seq from sqlite_sequence where name = 'log'");
    this.#floor = db.prepare('select floor from streams where part = ? and stream = ?');
    this.#raiseFloor = db.prepare(
      `insert into streams (part, stream, floor) values (?, ?, ?)
       on conflict (part, stream) do update set floor = max(floor, excluded.floor)`,
    );
    this.#dropSettled = db.prepare('delete from dedup where part = ? and stream = ? and seq < ?');
    this.#find = db.prepare(
      'select sha256, file_id, position, settle_until from dedup where part = ? and stream = ? and seq = ?',
    );
    this.#remember = db.prepare(
      `insert into dedup (part, stream, seq, sha256, file_id, position, settle_until) values (?, ?, ?, ?, ?, ?, ?)
       on conflict (part, stream, seq) do update set
         file_id = excluded.file_id, position = excluded.position, settle_until = excluded.settle_until`,
    );
    this.#keepAside = db.prepare(
      `insert into conflicts (part, stream, seq, sha256, batch)
       select ?1, ?2, ?3, ?4, ?5 where (select count(*) from conflicts where part = ?1) < ${maxConflicts}
       on conflict (part, stream, seq, sha256) do nothing`,
    );
    this.#nameBlob = db.prepare('insert into blobs (path, part) values (?, ?) on conflict (path) do nothing');
  }

  begin(): void {
    this.#db.exec('begin immediate');
    this.#lastPosition = Number(this.#given.get()?.['seq'] ?? 0);
  }

  commit(): void {
    this.#db.exec('commit');
  }

  rollback(): void {
    if (this.#db.isTransaction) this.#db.exec('rollback');
  }

  /** Inside begin and commit. */
  append(entry: LogEntry): Outcome {
    const { partId, stream, seq, sha256, batch, fileId, blobPath } = entry;
    if (seq < this.#floorAfter(entry)) return { outcome: 'settled', position: null, fileId };

    const known = this.#find.get(partId, stream, seq);
    if (known && !(sameBytes(known['sha256'], sha256) && Number(known['position']) === entry.replaces)) {
      if (sameBytes(known['sha256'], sha256)) {
        const settleUntil = known['settle_until'];
        return {
          outcome: 'repeated',
          position: Number(known['position']),
          fileId: String(known['file_id']),
          settleUntil: settleUntil === null ? null : Number(settleUntil),
        };
      }
      const kept = this.#keepAside.run(partId, stream, seq, sha256, batch);
      if (blobPath !== undefined && Number(kept.changes) > 0) this.#nameBlob.run(blobPath, partId);
      return { outcome: 'conflict', position: null, fileId };
    }

    const position = this.#lastPosition + 1;
    const proof = rowChecksums({ position, partId, stream, seq, sha256, batch });
    this.#insert.run(position, partId, stream, seq, sha256, batch, proof.head, proof.batch);
    this.#lastPosition = position;
    this.#remember.run(partId, stream, seq, sha256, fileId, position, entry.settleUntil ?? null);
    if (blobPath !== undefined) this.#nameBlob.run(blobPath, partId);
    return { outcome: 'appended', position, fileId };
  }

  /** The stream's floor once this entry's has been taken into account. */
  #floorAfter({ partId, stream, floor }: LogEntry): number {
    const stored = Number(this.#floor.get(partId, stream)?.['floor'] ?? 0);
    if (floor <= stored) return stored;
    this.#raiseFloor.run(partId, stream, floor);
    this.#dropSettled.run(partId, stream, floor);
    return floor;
  }
}

function sameBytes(found: unknown, expected: Uint8Array): boolean {
  return found instanceof Uint8Array && Buffer.compare(found, expected) === 0;
}
