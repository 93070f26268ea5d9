/** One connection to Postgres, set up as the cloud needs it: pipelined, in its own schema, commits on the server's disk (I2). */
import { Client } from 'pg';
import type { PostgresAddress } from './postgres-address.ts';
import { postgresTypes } from './postgres-values.ts';

/** A connection that hangs in a transaction for this long is ended by the server: its process is gone or stuck. */
const idleInTransactionMs = 60_000;

/** @param onLost called, perhaps more than once and before this resolves, when the connection ends for whatever reason. */
export async function connectPostgres(
  address: PostgresAddress,
  schema: string,
  onLost: (client: Client) => void,
): Promise<Client> {
  const client = new Client({ ...address.config, types: postgresTypes, pipeline: true });
  // Errors of a connection come to the query that waits, too; without a listener they would end the process.
  client.on('error', () => onLost(client));
  client.on('end', () => onLost(client));
  try {
    await client.connect();
    await client.query(sessionSettings(schema));
    return client;
  } catch (caught) {
    await client.end().catch(() => {});
    throw caught;
  }
}

/** @param schema a name of ours, never text of a user. */
export function sessionSettings(schema: string): string {
  return `
    set client_min_messages = warning;
    set search_path = ${schema};
    set idle_in_transaction_session_timeout = ${idleInTransactionMs};
    set default_transaction_isolation = 'read committed';
    select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') in ('off', 'local');
  `;
}
