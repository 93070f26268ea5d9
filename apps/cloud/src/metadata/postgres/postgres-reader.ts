/** Reads from one Postgres schema over a few connections; each statement sees what is committed when it begins. */
import type { Log } from '@platform/base';
import { Pool, type PoolClient, type QueryResult } from 'pg';
import type { PostgresAddress } from './postgres-address.ts';
import { sessionSettings } from './postgres-connection.ts';
import { isConnectionLost, postgresError } from './postgres-fault.ts';
import { postgresTypes, postgresValue } from './postgres-values.ts';

export interface PostgresReader extends AsyncDisposable {
  /** Throws unavailable if the server cannot be reached or the reader is closed. */
  query(sql: string, params?: readonly unknown[]): Promise<QueryResult>;
}

const connections = 4;
const idleMs = 60_000;

export function createPostgresReader(address: PostgresAddress, schema: string, log: Log): PostgresReader {
  const pool = new Pool({
    ...address.config,
    types: postgresTypes,
    max: connections,
    idleTimeoutMillis: idleMs,
    async onConnect(client) {
      // A query in progress fails with it; without a listener, the process would end.
      client.on('error', () => {});
      await client.query(`${sessionSettings(schema)}; set default_transaction_read_only = on`);
    },
  });
  // Concerns an idle connection; the next query gets another one.
  pool.on('error', (error) => log.warn('a connection to the database was lost', { error: error.message }));
  let closed: Promise<void> | null = null;

  const once = async (sql: string, params: readonly unknown[]): Promise<QueryResult> => {
    const client: PoolClient = await pool.connect();
    let lost = false;
    try {
      return await client.query(sql, params.map(postgresValue));
    } catch (caught) {
      lost = isConnectionLost(caught);
      throw caught;
    } finally {
      client.release(lost);
    }
  };
  return {
    async query(sql, params = []) {
      try {
        // After a server restart every connection is dead, and each is detected only when used; a read can be repeated.
        for (let attempt = 0; attempt < connections && !closed; attempt++) {
          try {
            return await once(sql, params);
          } catch (caught) {
            if (
              !isConnectionLost(caught) ||
              (caught instanceof Error && 'code' in caught && caught.code === 'ECONNREFUSED')
            )
              throw caught;
          }
        }
        return await once(sql, params);
      } catch (caught) {
        throw postgresError(caught, sql, address.shown);
      }
    },
    async [Symbol.asyncDispose]() {
      closed ??= pool.end();
      await closed;
    },
  };
}
