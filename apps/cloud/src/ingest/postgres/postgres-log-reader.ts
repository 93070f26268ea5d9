/**
 * Reads of the ingest log in Postgres: each sees a prefix of the committed rows, because the appender's lock makes commit order position
 * order (I3).
 */
import type { PostgresReader } from '../../metadata/postgres/postgres-reader.ts';
import type { DamagedRow, LogEntry, LogLoss, LogRow, ReadLimit } from '../log/log.ts';
import { lossOf } from '../losses/known-losses.ts';
import { missingBefore, missingRow, verifyRow } from '../losses/verify-rows.ts';

export class PostgresLogReader implements AsyncDisposable {
  readonly #reader: PostgresReader;

  constructor(reader: PostgresReader) {
    this.#reader = reader;
  }

  async read(after: number, limit: ReadLimit): Promise<readonly LogRow[]> {
    // Sizes are read first, without the batches, so that no more is transferred than was requested.
    const { rows } = await this.#reader.query(
      `select log.* from log join (
         select position, sum(coalesce(octet_length(batch), 0)) over (order by position) as upto, row_number() over (order by position) as nth
         from (select position, batch from log where position > $1 order by position limit $2) as wanted
       ) as sized on sized.position = log.position
       where nth = 1 or upto <= $3 order by log.position`,
      [after, limit.rows, limit.bytes],
    );
    return rows.map(verifyRow);
  }

  async follow(after: number, limit: ReadLimit): Promise<readonly LogRow[]> {
    const rows: LogRow[] = [];
    let position = after;
    for (const row of await this.read(after, limit)) {
      const missing = missingBefore(position, row);
      if (missing !== null) rows.push(await this.#missing(missing));
      rows.push(row);
      ({ position } = row);
    }
    if (rows.length > 0) return rows;
    // One statement, so that both values are read at the same moment.
    const ends = await this.#reader.query(
      'select last_position as given, (select coalesce(max(position), 0) from log) as held from log_state',
    );
    const { given = 0, held = 0 } = ends.rows[0] ?? {};
    return given > after && held <= after ? [await this.#missing({ first: after + 1, last: given })] : [];
  }

  async #missing({ first, last }: { readonly first: number; readonly last: number }): Promise<LogRow> {
    const { rows } = await this.#reader.query('select part from dedup where position between $1 and $2', [first, last]);
    return missingRow(
      first,
      last,
      rows.map(({ part }) => part),
    );
  }

  async damaged(): Promise<readonly DamagedRow[]> {
    const { rows } = await this.#reader.query('select position, reason from damaged order by position');
    return rows.map(({ position, reason }) => ({ position, reason }));
  }

  async losses(): Promise<readonly LogLoss[]> {
    const { rows } = await this.#reader.query('select * from losses order by first_position');
    return rows.map(lossOf);
  }

  async hasBlob(path: string): Promise<boolean> {
    const { rows } = await this.#reader.query('select 1 from blobs where path = $1', [path]);
    return rows.length > 0;
  }

  async isKnown({ partId, stream, seq }: Pick<LogEntry, 'partId' | 'stream' | 'seq'>): Promise<boolean> {
    const { rows } = await this.#reader.query(
      `select 1 from dedup where part = $1 and stream = $2 and seq = $3
       union all select 1 from streams where part = $1 and stream = $2 and floor > $3`,
      [partId, stream, seq],
    );
    return rows.length > 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader[Symbol.asyncDispose]();
  }
}
