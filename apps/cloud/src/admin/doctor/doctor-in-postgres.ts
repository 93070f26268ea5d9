/**
 * Doctor checks of a Postgres database from outside: it belongs to this installation, all of it is readable, and its server makes commits
 * durable.
 */
import { join } from 'node:path';
import { dataLoss, failedPrecondition, silentLog } from '@platform/base';
import { listTables, quoted } from '../../backup/copy/copy-postgres.ts';
import { payloadsSql } from '../../binary/store.ts';
import { blobPathsSql } from '../../ingest/log/log-tables.ts';
import { PostgresLogReader } from '../../ingest/postgres/postgres-log-reader.ts';
import { ingestSchema } from '../../ingest/postgres/postgres-log-tables.ts';
import { migrations } from '../../metadata/migrations.ts';
import { openSnapshot, type Snapshot } from '../../metadata/postgres/open-snapshot.ts';
import { readPostgresAddress } from '../../metadata/postgres/postgres-address.ts';
import { createPostgresReader } from '../../metadata/postgres/postgres-reader.ts';
import { checkedTablesOf } from '../../metadata/row-checks/checked-tables-of.ts';
import { findRowDamage } from '../../metadata/row-checks/find-row-damage.ts';
import { packagePayloadsSql } from '../../packages/store.ts';
import { type CatalogRows, catalogTables } from '../../tabular/integrity/catalog-findings.ts';
import { type DoctorStore, followedSql, payloadOf } from './doctor-store.ts';

export function inPostgres(dataDirectory: string, database: string | undefined): DoctorStore {
  const see = async <T>(look: (snapshot: Snapshot) => Promise<T>): Promise<T> => {
    if (database === undefined)
      throw failedPrecondition(
        `data directory ${dataDirectory}: this installation is in Postgres, but PLATFORM_DATABASE_URL is not set. Set it to the value that the cloud uses`,
      );
    const { signal } = new AbortController();
    await using snapshot = await openSnapshot(database, join(dataDirectory, 'postgres.json'), signal);
    return await look(snapshot);
  };
  return {
    checks: [
      { name: 'the database belongs to the data directory', look: () => see(async ({ shown }) => shown) },
      { name: 'every table of the database can be read', look: () => see(readAll) },
      { name: 'the database server commits durably', look: () => see(durability) },
    ],
    catalog: () =>
      see(async (snapshot) => {
        const rows: Partial<Record<keyof CatalogRows, unknown>> = {};
        for (const [name, table] of Object.entries(catalogTables))
          rows[name as keyof CatalogRows] = await snapshot.query(`select * from meta.${table}`);
        return rows as unknown as CatalogRows;
      }),
    payloads: () =>
      see(async (snapshot) => {
        const rows = await snapshot.query(inSchema('ingest', blobPathsSql));
        return rows.map((row) => String(row['path']));
      }),
    listedPayloads: () =>
      see(async (snapshot) => {
        const rows = [payloadsSql, packagePayloadsSql].map((sql) => snapshot.query(inSchema('meta', sql)));
        return (await Promise.all(rows)).flat().map(payloadOf);
      }),
    rows: () =>
      see((snapshot) => findRowDamage({ kind: 'postgres', eachRow: snapshot.eachRow }, checkedTablesOf(migrations))),
    async log(look) {
      const followed = await see(async (snapshot) => {
        const positions: number[] = [];
        for (const sql of followedSql)
          for (const row of await snapshot.query(inSchema('meta', sql))) positions.push(Number(row['position']));
        return Math.min(...positions);
      });
      await using log = new PostgresLogReader(
        createPostgresReader(readPostgresAddress(database ?? ''), ingestSchema, silentLog),
      );
      return await look(log, followed);
    },
  };
}

function inSchema(schema: string, sql: string): string {
  return sql.replace(' from ', ` from ${schema}.`);
}

/** Counts whole rows, because a bare count may be answered from an index. */
async function readAll(snapshot: Snapshot): Promise<string> {
  const tables = await listTables(snapshot);
  let rows = 0;
  for (const { schema, table } of tables) {
    const [counted] = await snapshot.query(`select count(t.*) as rows from ${schema}.${quoted([table])} as t`);
    rows += Number(counted?.['rows']);
  }
  return `${tables.length} tables, ${rows} rows`;
}

async function durability(snapshot: Snapshot): Promise<string> {
  const off: string[] = [];
  for (const name of ['fsync', 'full_page_writes']) {
    const [setting] = await snapshot.query(`select current_setting('${name}') as value`);
    if (setting?.['value'] !== 'on') off.push(name);
  }
  if (off.length > 0)
    throw dataLoss(
      `${snapshot.shown}: expected ${off.join(' and ')} to be on, found off: a crash of the server could lose or damage acknowledged data. Turn it on in postgresql.conf`,
    );
  return 'fsync and full_page_writes are on';
}
