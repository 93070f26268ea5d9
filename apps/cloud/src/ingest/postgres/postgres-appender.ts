/**
 * One group commit of the ingest log in Postgres: dedup, low-water marks and the append in one transaction. It holds the writer's advisory
 * lock until it has committed, so that commit order is position order (I3). Three round trips for a group of any size.
 */
import { dataLoss } from '@platform/base';
import type { PostgresTransaction, PostgresWriter } from '../../metadata/postgres/postgres-writer.ts';
import { type Decision, decideGroup, entryKey, type Known, streamKey } from '../log/decide-group.ts';
import type { LogEntry } from '../log/log.ts';
import { type KnownUpload, maxConflicts, type Outcome } from '../log/recognise-retry.ts';
import { rowChecksums } from '../losses/row-checksums.ts';

/** Resolves when everything is committed; throws when nothing is (I2). */
export async function commitEntries(
  writer: PostgresWriter,
  entries: readonly LogEntry[],
): Promise<{ readonly outcomes: readonly Outcome[]; readonly lastPosition: number }> {
  const transaction = await writer.begin();
  try {
    const decision = decideGroup(await readKnown(transaction, entries), entries);
    const writes = Promise.allSettled(write(transaction, decision));
    const [committed] = await Promise.allSettled([transaction.commit()]);
    const failed = (await writes).find((written) => written.status === 'rejected');
    // The commit succeeded, so lost responses to its writes do not matter.
    if (committed.status === 'rejected') throw failed?.reason ?? committed.reason;
    return decision;
  } catch (caught) {
    await transaction.rollback();
    throw caught;
  }
}

async function readKnown(transaction: PostgresTransaction, entries: readonly LogEntry[]): Promise<Known> {
  const streams = entries.flatMap(({ partId, stream }) => [partId, stream]);
  const keys = entries.flatMap(({ partId, stream, seq }) => [partId, stream, seq]);
  const [state, marks, uploads] = await Promise.all([
    transaction.query('select last_position from log_state'),
    transaction.query(
      `select part, stream, floor from streams where (part, stream) in (${tuples(entries.length, ['text', 'bytea'])})`,
      streams,
    ),
    transaction.query(
      `select part, stream, seq, sha256, position, file_id, settle_until from dedup
       where (part, stream, seq) in (${tuples(entries.length, ['text', 'bytea', 'bigint'])})`,
      keys,
    ),
  ]);
  const lastPosition: unknown = state.rows[0]?.last_position;
  if (typeof lastPosition !== 'number') throw dataLoss('the ingest log has lost its last position');
  return {
    lastPosition,
    lowWaterMarks: new Map(marks.rows.map(({ part, stream, floor }) => [streamKey({ partId: part, stream }), floor])),
    uploads: new Map(
      uploads.rows.map(({ part, stream, seq, sha256, position, file_id, settle_until }): [string, KnownUpload] => [
        entryKey({ partId: part, stream, seq }),
        { sha256, position, fileId: file_id, settleUntil: settle_until },
      ]),
    ),
  };
}

/** Starts all writes before it returns; the commit is queued behind them. */
function write(transaction: PostgresTransaction, decision: Decision): Promise<unknown>[] {
  const { appended, remembered, conflicts, raised, lastPosition } = decision;
  const writes: Promise<unknown>[] = [];
  const insert = (into: string, types: readonly string[], rows: readonly (readonly unknown[])[], end = ''): void => {
    if (rows.length > 0)
      writes.push(transaction.query(`insert into ${into} values ${tuples(rows.length, types)} ${end}`, rows.flat()));
  };
  insert(
    'streams (part, stream, floor)',
    ['text', 'bytea', 'bigint'],
    raised.map(({ entry, lowWaterMark }) => [entry.partId, entry.stream, lowWaterMark]),
    'on conflict (part, stream) do update set floor = greatest(streams.floor, excluded.floor)',
  );
  for (const { entry, lowWaterMark } of raised) {
    const settled = 'delete from dedup where part = $1 and stream = $2 and seq < $3';
    writes.push(transaction.query(settled, [entry.partId, entry.stream, lowWaterMark]));
  }
  insert(
    'log (position, part, stream, seq, sha256, batch, head_checksum, batch_checksum)',
    ['bigint', 'text', 'bytea', 'bigint', 'bytea', 'bytea', 'bigint', 'bigint'],
    appended.map(({ entry, position }) => {
      const proof = rowChecksums({ ...entry, position });
      const row = [position, entry.partId, entry.stream, entry.seq, entry.sha256, entry.batch];
      return [...row, proof.head, proof.batch];
    }),
  );
  insert(
    'dedup (part, stream, seq, sha256, file_id, position, settle_until)',
    ['text', 'bytea', 'bigint', 'bytea', 'text', 'bigint', 'bigint'],
    remembered.map(({ entry, position }) => [
      ...[entry.partId, entry.stream, entry.seq, entry.sha256],
      ...[entry.fileId, position, entry.settleUntil ?? null],
    ]),
    `on conflict (part, stream, seq) do update set
       file_id = excluded.file_id, position = excluded.position, settle_until = excluded.settle_until`,
  );
  const withBlob = appended.filter(({ entry }) => entry.blobPath !== undefined);
  insert(
    'blobs (path, part)',
    ['text', 'text'],
    withBlob.map(({ entry }) => [entry.blobPath, entry.partId]),
    'on conflict (path) do nothing',
  );
  for (const { partId, stream, seq, sha256, batch, blobPath } of conflicts) {
    writes.push(transaction.query(keepAside, [partId, stream, seq, sha256, batch, blobPath ?? null]));
  }
  if (appended.length > 0) writes.push(transaction.query('update log_state set last_position = $1', [lastPosition]));
  return writes;
}

const keepAside = `
  with kept as (
    insert into conflicts (part, stream, seq, sha256, batch)
    select $1::text, $2::bytea, $3::bigint, $4::bytea, $5::bytea
    where (select count(*) from conflicts where part = $1::text) < ${maxConflicts}
    on conflict (part, stream, seq, sha256) do nothing returning part
  )
  insert into blobs (path, part) select $6::text, part from kept where $6::text is not null on conflict (path) do nothing`;

/** `($1::a, $2::b), ($3::a, …), …` */
function tuples(rows: number, types: readonly string[]): string {
  return Array.from({ length: rows }, (_, row) => {
    const members = types.map((type, column) => `$${row * types.length + column + 1}::${type}`);
    return `(${members.join(', ')})`;
  }).join(', ');
}
