/** One Postgres connection with the cloud's settings: pipelined, in its own schema, with commits on the server's disk (I2). */
import { Client } from 'pg';
import type { PostgresAddress } from './postgres-address.ts';
import { postgresTypes } from './postgres-values.ts';

/** The server closes a connection that is idle in a transaction for this long: its process has died or hangs. */
const idleInTransactionMs = 60_000;

/** @param onLost called when the connection ends for any reason; possibly more than once, and before this resolves. */
export async function connectPostgres(
  address: PostgresAddress,
  schema: string,
  onLost: (client: Client) => void,
): Promise<Client> {
  const client = new Client({ ...address.config, types: postgresTypes, pipeline: true });
  // The waiting query gets connection errors, too; without a listener they would end the process.
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

/** @param schema one of our names, never user input. */
export function sessionSettings(schema: string): string {
  return `
    set client_min_messages = warning;
    set search_path = ${schema};
    set idle_in_transaction_session_timeout = ${idleInTransactionMs};
    set default_transaction_isolation = 'read committed';
    select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') in ('off', 'local');
  `;
}
