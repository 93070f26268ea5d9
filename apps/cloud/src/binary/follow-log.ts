/**
 * Follows the ingest log: what it says of pictures and files goes into `binary_data`, with the cursor, in one transaction
 * (I11), so that each upload is entered once whatever ends the process in between, and what was deleted does not come back.
 *
 * Rows without a payload move the cursor in memory; it is written at most 250 ms later. A row that cannot be read is marked
 * damaged and passed; a database that cannot be written stops the follower, which tries again and never skips.
 */
import { setImmediate } from 'node:timers/promises';
import { type Clock, errorText, type Log, PlatformError } from '@platform/base';
import type { Kysely, Transaction } from 'kysely';
import type { IngestLog, LogRow } from '../ingest/log.ts';
import type { CloudTables } from '../metadata/tables.ts';
import { insertUploads } from './insert-uploads.ts';
import { type BinaryUpload, readBinaryUpload } from './read-upload.ts';

export interface FollowLogOptions {
  readonly db: Kysely<CloudTables>;
  readonly ingestLog: Pick<IngestLog, 'read' | 'follow' | 'lastPosition' | 'markDamaged' | 'noteLoss'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Bounds of one step, and with it of one transaction. */
const maxRows = 256;
const maxBytes = 8 * 1024 * 1024;
const cursorWriteMs = 250;

export class LogSteps {
  readonly #options: FollowLogOptions;
  #position = 0;
  #writtenPosition = 0;
  #writtenAtMs = 0;

  constructor(options: FollowLogOptions) {
    this.#options = options;
  }

  /** Reads the cursor; before the first step. */
  async open(): Promise<void> {
    const { db, ingestLog } = this.#options;
    // Of what was truncated before there was this follower, nothing is to be had.
    const [oldest] = await ingestLog.read(0, { rows: 1, bytes: 1 });
    const position = oldest === undefined ? ingestLog.lastPosition() : oldest.position - 1;
    await db
      .insertInto('binary_data_cursor')
      .values({ name: cursorName, position })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
    this.#position = await readCursor(db);
    this.#writtenPosition = this.#position;
  }

  /** All uploads up to here are in the table: those that have a payload durably. */
  position(): number {
    return this.#position;
  }

  /** Enters the next rows; true: there may be more. */
  async step(): Promise<boolean> {
    const { ingestLog, clock, db } = this.#options;
    const rows = await ingestLog.follow(this.#position, { rows: maxRows, bytes: maxBytes });
    const last = rows.at(-1);
    if (last === undefined) {
      if (clock.monotonic() - this.#writtenAtMs >= cursorWriteMs) await this.flush();
      return false;
    }
    const uploads = await this.#readRows(rows);
    if (uploads.length > 0) {
      await db.transaction().execute(async (trx) => {
        await moveCursor(trx, this.#writtenPosition, last.position);
        await insertUploads(trx, uploads, clock.now());
      });
      this.#wrote(last.position);
    } else if (clock.monotonic() - this.#writtenAtMs >= cursorWriteMs) {
      this.#position = last.position;
      await this.flush();
    } else {
      // Catching up without a single wait would leave the process deaf.
      await setImmediate();
    }
    this.#position = last.position;
    return true;
  }

  /** Writes the cursor if it is ahead of the table. */
  async flush(): Promise<void> {
    const position = this.#position;
    if (position === this.#writtenPosition) return;
    await this.#options.db.transaction().execute((trx) => moveCursor(trx, this.#writtenPosition, position));
    this.#wrote(position);
  }

  #wrote(position: number): void {
    this.#writtenPosition = position;
    this.#writtenAtMs = this.#options.clock.monotonic();
  }

  async #readRows(rows: readonly LogRow[]): Promise<readonly BinaryUpload[]> {
    const { ingestLog, log } = this.#options;
    const uploads: BinaryUpload[] = [];
    for (const { position, partId, batch, damage } of rows) {
      if (damage !== undefined) {
        await ingestLog.noteLoss('binary data', damage);
        continue;
      }
      try {
        const upload = readBinaryUpload(position, batch);
        if (upload !== null) uploads.push(upload);
      } catch (caught) {
        const reason = errorText(caught);
        log.error('an upload could not be read; it is marked as damaged and passed', { position, partId, reason });
        await ingestLog.markDamaged(position, reason);
      }
    }
    return uploads;
  }
}

const cursorName = 'binary-data';

/** 0 before the first start. */
export async function readCursor(db: Kysely<CloudTables>): Promise<number> {
  const row = await db
    .selectFrom('binary_data_cursor')
    .select('position')
    .where('name', '=', cursorName)
    .executeTakeFirst();
  return row?.position ?? 0;
}

/** Throws aborted when the cursor is not where this process left it: then another one has entered these rows. */
async function moveCursor(trx: Transaction<CloudTables>, from: number, to: number): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('binary_data_cursor')
    .set({ position: to })
    .where('name', '=', cursorName)
    .where('position', '=', from)
    .executeTakeFirst();
  if (numUpdatedRows === 1n) return;
  throw new PlatformError(
    'aborted',
    `expected the cursor of binary data at position ${from}, found it elsewhere; is another cloud running on this data?`,
  );
}
