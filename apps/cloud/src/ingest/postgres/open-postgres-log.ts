/** Opens the ingest log in Postgres: schema `ingest` of the metadata's database, written by this process alone. */
import { type ClockAndLog, errorText, PlatformError, unavailable } from '@platform/base';
import { readPostgresAddress } from '../../metadata/postgres/postgres-address.ts';
import { migratePostgres } from '../../metadata/postgres/postgres-migrate.ts';
import { createPostgresReader } from '../../metadata/postgres/postgres-reader.ts';
import { PostgresWriter } from '../../metadata/postgres/postgres-writer.ts';
import type { LogEntry } from '../log/log.ts';
import type { Maintained } from '../log/log-maintenance.ts';
import type { LogStore } from '../log/log-writer.ts';
import type { Outcome } from '../log/recognise-retry.ts';
import { lossRow } from '../losses/known-losses.ts';
import { commitEntries } from './postgres-appender.ts';
import { PostgresLogReader } from './postgres-log-reader.ts';
import { ingestSchema, postgresIngestMigrations } from './postgres-log-tables.ts';
import { endPostgresLosses, restorePostgresRow } from './restore-postgres-row.ts';

export interface PostgresLogOptions extends ClockAndLog {
  readonly database: string;
  readonly onFatal: (error: Error) => void;
}

const expirePeriodMs = 60_000;
const expireRows = 5_000;
/** As in the SQLite log: a group is committed when it reaches this size. */
const groupEntries = 512;
const groupBytes = 16 * 1024 * 1024;

/** @param onAppended called after each commit that appended, before any sender is answered */
export async function openPostgresLog(options: PostgresLogOptions, onAppended: () => void): Promise<LogStore> {
  const { database, log, clock, onFatal } = options;
  const address = readPostgresAddress(database);
  await using unwind = new AsyncDisposableStack();
  const plainReader = unwind.use(createPostgresReader(address, ingestSchema, log));
  const reader = new PostgresLogReader(plainReader);
  const writer = unwind.use(new PostgresWriter({ address, schema: ingestSchema, lockKey: 2, clock, log, onFatal }));
  await migratePostgres(plainReader, writer, ingestSchema, postgresIngestMigrations);
  const { rows } = await writer.run(
    'select last_position, (select coalesce(sum(octet_length(batch)), 0) from log) as bytes from log_state',
    [],
  );
  const groups = new Groups(writer, rows[0]?.last_position ?? 0, onAppended);
  const expiry = unwind.use(
    clock.every(expirePeriodMs, () => {
      writer.run(expire, [clock.now()]).catch((caught: unknown) => {
        log.warn('ingest log: deleting the records of old anonymous uploads failed', { error: errorText(caught) });
      });
    }),
  );
  const running = unwind.move();
  const run = async (sql: string, params: readonly unknown[]): Promise<Maintained> => {
    const { rowCount } = await writer.run(sql, params);
    return { rows: rowCount ?? 0, bytes: 0 };
  };
  return {
    reads: {
      read: (after, limit) => reader.read(after, limit),
      follow: (after, limit) => reader.follow(after, limit),
      damaged: () => reader.damaged(),
      losses: () => reader.losses(),
      hasBlob: (path) => reader.hasBlob(path),
      isKnown: (key) => reader.isKnown(key),
      reusableBytes: async () => 0,
    },
    writer: {
      append: (entry) => groups.append(entry),
      async truncate(upTo, maxRows) {
        const { rows: gone } = await writer.run(truncate, [upTo, maxRows]);
        return { rows: gone.length, bytes: gone.reduce((sum: number, row) => sum + Number(row.bytes), 0) };
      },
      markDamaged: (position, reason) => run(markDamaged, [position, reason]),
      recordLoss: (loss) => run(recordLoss, lossRow(loss)),
      acceptLosses: (nowMs) => run(acceptLosses, [nowMs]),
      restoreRow: (row) => restorePostgresRow(writer, row),
      endLosses: (position) => endPostgresLosses(writer, position),
      async resumeAfter(position) {
        const raised = await run('update log_state set last_position = greatest(last_position, $1)', [position]);
        groups.lastPosition = Math.max(groups.lastPosition, position);
        return raised;
      },
      async forgetBlobs(paths) {
        if (paths.length === 0) return { rows: 0, bytes: 0 };
        const given = paths.map((_, index) => `$${index + 1}::text`).join(', ');
        return run(`delete from blobs where path in (${given})`, paths);
      },
      get lastPosition() {
        return groups.lastPosition;
      },
      openedBytes: rows[0]?.bytes ?? 0,
      async [Symbol.asyncDispose]() {
        expiry[Symbol.dispose]();
        await groups.close();
        await running.disposeAsync();
      },
    },
  };
}

const truncate = `
  delete from log where position in (
    select position from log where position <= $1 and position not in (select position from damaged) order by position limit $2
  ) returning octet_length(batch) as bytes`;

const markDamaged = `
  insert into damaged (position, reason) values ($1, $2) on conflict (position) do update set reason = excluded.reason`;

const recordLoss = `
  with kept as (
    insert into damaged (position, reason) select position, $5::text from log where position = $2::bigint and $2::bigint = $3::bigint
    on conflict (position) do nothing
  )
  insert into losses (loss_in, first_position, last_position, parts, reason, found_ms)
  values ($1::text, $2::bigint, $3::bigint, $4::text, $5::text, $6::bigint)
  on conflict (loss_in, first_position) do update set last_position = excluded.last_position, accepted_ms = null`;

const acceptLosses = `
  with released as (
    delete from damaged where position in (select first_position from losses where first_position = last_position)
  )
  update losses set accepted_ms = $1 where accepted_ms is null`;

const expire = `
  delete from dedup where (part, stream, seq) in
  (select part, stream, seq from dedup where settle_until is not null and settle_until < $1 limit ${expireRows})`;

interface Waiting {
  readonly entry: LogEntry;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Everything waiting when a commit ends goes into the next one, so one round trip answers many uploads. */
class Groups {
  lastPosition: number;
  readonly #writer: PostgresWriter;
  readonly #onAppended: () => void;
  #waiting: Waiting[] = [];
  #working: Promise<void> | null = null;
  #closed = false;

  constructor(writer: PostgresWriter, lastPosition: number, onAppended: () => void) {
    this.#writer = writer;
    this.lastPosition = lastPosition;
    this.#onAppended = onAppended;
  }

  append(entry: LogEntry): Promise<Outcome> {
    if (this.#closed) return Promise.reject(unavailable('the ingest log is closed'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entry, resolve, reject });
      this.#working ??= this.#work();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      let bytes = 0;
      let taken = 0;
      while (taken < this.#waiting.length && taken < groupEntries && bytes < groupBytes)
        bytes += this.#waiting[taken++]?.entry.batch.length ?? 0;
      await this.#commit(this.#waiting.splice(0, taken));
    }
    this.#working = null;
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    try {
      const { outcomes, lastPosition } = await commitEntries(
        this.#writer,
        group.map(({ entry }) => entry),
      );
      if (lastPosition > this.lastPosition) {
        this.lastPosition = lastPosition;
        this.#onAppended();
      }
      group.forEach(({ resolve }, index) => {
        const outcome = outcomes[index];
        if (outcome) resolve(outcome);
      });
    } catch (caught) {
      const isAlone = group.length === 1;
      const isOutage = caught instanceof PlatformError && caught.code === 'unavailable';
      if (isAlone || isOutage) {
        for (const { reject } of group) reject(caught);
        return;
      }
      // One that cannot be stored, or does not fit on the disk, does not fail the others.
      for (const one of group) await this.#commit([one]);
    }
  }
}
