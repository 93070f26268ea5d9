/** Restores rows to the ingest log in Postgres and ends their losses, like LogMaintenance in SQLite. */
import type { PostgresWriter } from '../../metadata/postgres/postgres-writer.ts';
import type { Maintained } from '../log/log-maintenance.ts';
import { lossOf, lossRow } from '../losses/known-losses.ts';
import { mayRestore } from '../losses/may-restore.ts';
import { rowChecksums, type VerifiedRow } from '../losses/row-checksums.ts';
import { subtractPosition } from '../losses/subtract-position.ts';

export function restorePostgresRow(writer: PostgresWriter, row: VerifiedRow): Promise<Maintained> {
  const { position, partId, stream, seq, sha256, batch } = row;
  return writer.inTransaction(async (trx) => {
    const [stored] = (await trx.query('select * from log where position = $1', [position])).rows;
    const recognised = await trx.query('select part, stream, seq, sha256 from dedup where position = $1', [position]);
    if (!mayRestore(row, stored, recognised.rows)) return { rows: 0, bytes: 0 };
    const { head, batch: whole } = rowChecksums(row);
    await trx.query('delete from log where position = $1', [position]);
    await trx.query(
      `insert into log (position, part, stream, seq, sha256, batch, head_checksum, batch_checksum)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [position, partId, Buffer.from(stream), seq, Buffer.from(sha256), Buffer.from(batch), head, whole],
    );
    return { rows: 1, bytes: batch.length - (stored?.batch?.length ?? 0) };
  });
}

export function endPostgresLosses(writer: PostgresWriter, position: number): Promise<Maintained> {
  return writer.inTransaction(async (trx) => {
    await trx.query('delete from damaged where position = $1', [position]);
    const { rows } = await trx.query(
      'delete from losses where first_position <= $1 and last_position >= $1 and accepted_ms is null returning *',
      [position],
    );
    for (const left of rows.flatMap((row) => subtractPosition(lossOf(row), position)))
      await trx.query(
        'insert into losses (loss_in, first_position, last_position, parts, reason, found_ms) values ($1, $2, $3, $4, $5, $6)',
        lossRow(left),
      );
    return { rows: rows.length, bytes: 0 };
  });
}
