/** Reads the whole Postgres database of an installation, metadata and log, as of one moment, while its cloud continues to run. */
import { failedPrecondition, type PlatformError } from '@platform/base';
import { Query, type QueryConfig } from 'pg';
import { readInstallation } from '../claim-installation.ts';
import { readPostgresAddress } from './postgres-address.ts';
import { connectPostgres } from './postgres-connection.ts';
import { postgresError } from './postgres-fault.ts';
import type { postgresTypes } from './postgres-values.ts';

/** The server's text form of each value, exact for every type; null for NULL. */
export type TextRow = readonly (string | null)[];

export interface Snapshot extends AsyncDisposable {
  /** Name of the database, for error texts. */
  readonly shown: string;
  query(sql: string): Promise<readonly Record<string, unknown>[]>;
  /** Passes on each row as it arrives, and reads on when `take` has returned: memory holds only a few rows, whatever the table's size. */
  eachRow(sql: string, take: (row: TextRow) => void): Promise<void>;
}

/**
 * Opens one read-only `repeatable read` transaction. It sees everything that was committed when this resolves.
 *
 * @param installationFile of the data directory to which the database must belong; undefined: that is known already
 * @throws failed_precondition if it belongs to another one; unavailable if the server cannot be reached.
 */
export async function openSnapshot(
  database: string,
  installationFile: string | undefined,
  signal: AbortSignal,
): Promise<Snapshot> {
  const address = readPostgresAddress(database);
  const { shown } = address;
  const failed = (caught: unknown): PlatformError => {
    signal.throwIfAborted();
    return postgresError(caught, 'the snapshot', shown);
  };
  const client = await connectPostgres(address, 'meta', () => {}).catch((caught) => {
    throw failed(caught);
  });
  const end = (): void => void client.end().catch(() => {});
  signal.addEventListener('abort', end, { once: true });
  const query = async (sql: string): Promise<readonly Record<string, unknown>[]> => {
    try {
      return (await client.query(sql)).rows;
    } catch (caught) {
      throw failed(caught);
    }
  };
  const snapshot: Snapshot = {
    shown,
    query,
    eachRow: async (sql, take) => {
      let refused: unknown;
      const config: QueryConfig & { rowMode: 'array' } = { text: sql, rowMode: 'array', types: asText };
      const rows = new Query<(string | null)[]>(config);
      const ended = new Promise<void>((resolve, reject) => {
        rows.once('end', () => resolve());
        rows.once('error', reject);
      });
      rows.on('row', (row: TextRow) => {
        if (refused !== undefined) return;
        try {
          take(row);
        } catch (caught) {
          refused = caught;
          // Results still in transit are useless now.
          end();
        }
      });
      client.query(rows);
      await ended.catch((caught) => {
        throw refused ?? failed(caught);
      });
      if (refused !== undefined) throw refused;
    },
    async [Symbol.asyncDispose]() {
      signal.removeEventListener('abort', end);
      await client.end().catch(() => {});
    },
  };
  try {
    await query(`set bytea_output = 'hex'; begin isolation level repeatable read read only`);
    // The first statement after BEGIN determines the moment of the snapshot.
    const [there] = await query(`select to_regclass('meta.installation') is not null as exists`);
    const [row] = there?.['exists'] === 1 ? await query('select id from meta.installation') : [];
    if (installationFile === undefined) return snapshot;
    const ours = readInstallation(installationFile);
    if (ours === undefined || row?.['id'] !== ours)
      throw failedPrecondition(
        `${shown}: expected the database of installation ${ours ?? '(none)'} as ${installationFile} says, found ${row === undefined ? 'none of a cloud' : `that of ${String(row['id'])}`}. Is PLATFORM_DATABASE_URL that of this data directory?`,
      );
    return snapshot;
  } catch (caught) {
    await snapshot[Symbol.asyncDispose]();
    throw caught;
  }
}

const asText: typeof postgresTypes = {
  getTypeParser: (() => (text: string) => text) as typeof postgresTypes.getTypeParser,
};
