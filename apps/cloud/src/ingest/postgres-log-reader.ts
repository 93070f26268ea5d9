/** Reads of the ingest log in Postgres: each sees a prefix of what is committed, because the appender's lock makes commit order position order (I3). */
import type { PostgresReader } from '../metadata/postgres-reader.ts';
import type { DamagedRow, LogRow, ReadLimit } from './log.ts';

export class PostgresLogReader implements AsyncDisposable {
  readonly #reader: PostgresReader;

  constructor(reader: PostgresReader) {
    this.#reader = reader;
  }

  async read(after: number, limit: ReadLimit): Promise<readonly LogRow[]> {
    // Sizes first, which are read without the batches, so that no more comes over the wire than was asked for.
    const { rows } = await this.#reader.query(
      `select log.position, log.part, log.batch from log join (
         select position, sum(octet_length(batch)) over (order by position) as upto, row_number() over (order by position) as nth
         from (select position, batch from log where position > $1 order by position limit $2) as wanted
       ) as sized on sized.position = log.position
       where nth = 1 or upto <= $3 order by log.position`,
      [after, limit.rows, limit.bytes],
    );
    return rows.map(({ position, part, batch }) => ({ position, partId: part, batch }));
  }

  async damaged(): Promise<readonly DamagedRow[]> {
    const { rows } = await this.#reader.query('select position, reason from damaged order by position');
    return rows.map(({ position, reason }) => ({ position, reason }));
  }

  async hasBlob(path: string): Promise<boolean> {
    const { rows } = await this.#reader.query('select 1 from blobs where path = $1', [path]);
    return rows.length > 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader[Symbol.asyncDispose]();
  }
}
