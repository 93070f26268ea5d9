/**
 * One group commit of the ingest log, without the thread around it: dedup, low-water marks and the append in one transaction, by the rules
 * of recognise-retry.ts. An entry's low-water mark is stored if it raises the stream's; dedup rows below it are dropped.
 */
import type { DatabaseSync } from 'node:sqlite';
import { sqliteFault } from '../../metadata/sqlite/sqlite-fault.ts';
import { rowChecksums } from '../losses/row-checksums.ts';
import type { LogEntry } from './log.ts';
import type { LogMaintenance } from './log-maintenance.ts';
import type { LogAnswer, LogRequest } from './log-protocol.ts';
import { type KnownUpload, lowWaterMarkAfter, maxConflicts, type Outcome, recogniseRetry } from './recognise-retry.ts';

export class Appender {
  readonly #sql: ReturnType<typeof statements>;
  readonly #db: DatabaseSync;
  #lastPosition = 0;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#sql = statements(db);
  }

  begin(): void {
    this.#db.exec('begin immediate');
    this.#lastPosition = Number(this.#sql.given.get()?.['seq'] ?? 0);
  }

  commit(): void {
    this.#db.exec('commit');
  }

  rollback(): void {
    if (this.#db.isTransaction) this.#db.exec('rollback');
  }

  /** Must be called between begin and commit. */
  append(entry: LogEntry): Outcome {
    const { partId, stream, seq, sha256, batch, fileId, blobPath } = entry;
    const recognised = recogniseRetry(entry, this.#raisedLowWaterMark(entry), this.#known(entry));
    if (recognised?.outcome === 'conflict') {
      const kept = this.#sql.keepAside.run(partId, stream, seq, sha256, batch);
      if (blobPath !== undefined && Number(kept.changes) > 0) this.#sql.nameBlob.run(blobPath, partId);
    }
    if (recognised !== null) return recognised;

    const position = this.#lastPosition + 1;
    const proof = rowChecksums({ position, partId, stream, seq, sha256, batch });
    this.#sql.insert.run(position, partId, stream, seq, sha256, batch, proof.head, proof.batch);
    this.#lastPosition = position;
    this.#sql.remember.run(partId, stream, seq, sha256, fileId, position, entry.settleUntil ?? null);
    if (blobPath !== undefined) this.#sql.nameBlob.run(blobPath, partId);
    return { outcome: 'appended', position, fileId };
  }

  /** The stream's low-water mark, stored again if this entry raises it. */
  #raisedLowWaterMark(entry: LogEntry): number {
    const { partId, stream } = entry;
    const stored = this.#sql.lowWaterMark.get(partId, stream)?.['floor'];
    const lowWaterMark = lowWaterMarkAfter(stored === undefined ? undefined : Number(stored), entry);
    if (lowWaterMark > Number(stored ?? 0)) {
      this.#sql.raiseLowWaterMark.run(partId, stream, lowWaterMark);
      this.#sql.dropSettled.run(partId, stream, lowWaterMark);
    }
    return lowWaterMark;
  }

  #known({ partId, stream, seq }: LogEntry): KnownUpload | undefined {
    const row = this.#sql.find.get(partId, stream, seq);
    if (row === undefined) return undefined;
    const { sha256, position, file_id: fileId, settle_until: settleUntil } = row;
    return {
      // A damaged hash matches no upload.
      sha256: sha256 instanceof Uint8Array ? sha256 : new Uint8Array(),
      position: Number(position),
      fileId: String(fileId),
      settleUntil: settleUntil === null ? null : Number(settleUntil),
    };
  }
}

export type LogWork = Exclude<LogRequest, { kind: 'close' }>;

export type GroupOutcome =
  | { readonly kind: 'answered' }
  /** The disk or the file failed. How much reached it is unknown, so no sender is answered and the process ends. */
  | { readonly kind: 'fatal'; readonly message: string };

export interface CommitGroupOptions {
  readonly appender: Appender;
  readonly maintenance: LogMaintenance;
  readonly answer: (answers: readonly LogAnswer[]) => void;
}

/** Commits all waiting work at once: either all of it is answered after COMMIT returned, or nothing is stored (I2). */
export function commitGroup(options: CommitGroupOptions, work: readonly LogWork[]): GroupOutcome {
  const { appender, maintenance, answer } = options;
  const perform = (request: LogWork): LogAnswer => {
    const { id } = request;
    if (request.kind === 'append') return { id, result: appender.append(request.entry) };
    const { method, args } = request.call;
    return { id, result: Reflect.apply(maintenance[method], maintenance, args) };
  };
  try {
    appender.begin();
    const answers = work.map(perform);
    appender.commit();
    answer(answers);
    return { kind: 'answered' };
  } catch (caught) {
    const fault = sqliteFault(caught);
    if (fault.kind === 'fatal') return { kind: 'fatal', message: fault.message };
    appender.rollback();
    if (work.length === 1) {
      answer(work.map(({ id }) => ({ id, fault })));
      return { kind: 'answered' };
    }
  }
  // An entry that cannot be stored, or does not fit on the disk, must not fail the others.
  for (const request of work) {
    const outcome = commitGroup(options, [request]);
    if (outcome.kind === 'fatal') return outcome;
  }
  return { kind: 'answered' };
}

function statements(db: DatabaseSync) {
  return {
    insert: db.prepare(
      'insert into log (position, part, stream, seq, sha256, batch, head_checksum, batch_checksum) values (?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    given: db.prepare("select seq from sqlite_sequence where name = 'log'"),
    lowWaterMark: db.prepare('select floor from streams where part = ? and stream = ?'),
    raiseLowWaterMark: db.prepare(
      `insert into streams (part, stream, floor) values (?, ?, ?)
       on conflict (part, stream) do update set floor = max(floor, excluded.floor)`,
    ),
    dropSettled: db.prepare('delete from dedup where part = ? and stream = ? and seq < ?'),
    find: db.prepare(
      'select sha256, file_id, position, settle_until from dedup where part = ? and stream = ? and seq = ?',
    ),
    remember: db.prepare(
      `insert into dedup (part, stream, seq, sha256, file_id, position, settle_until) values (?, ?, ?, ?, ?, ?, ?)
       on conflict (part, stream, seq) do update set
         file_id = excluded.file_id, position = excluded.position, settle_until = excluded.settle_until`,
    ),
    keepAside: db.prepare(
      `insert into conflicts (part, stream, seq, sha256, batch)
       select ?1, ?2, ?3, ?4, ?5 where (select count(*) from conflicts where part = ?1) < ${maxConflicts}
       on conflict (part, stream, seq, sha256) do nothing`,
    ),
    nameBlob: db.prepare('insert into blobs (path, part) values (?, ?) on conflict (path) do nothing'),
  };
}
