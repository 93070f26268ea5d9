/** Versions of the tables in the Postgres database of a data directory. */
import { existsSync } from 'node:fs';
import { PlatformError } from '@platform/base';
import { openSnapshot } from '../metadata/postgres/open-snapshot.ts';
import type { StoreVersions } from './keep-before-upgrade.ts';

/** 0 for a database that is new or belongs to another directory, which the start refuses. @param installationFile names the database */
export async function postgresVersions(database: string, installationFile: string): Promise<StoreVersions> {
  const none = { meta: 0, ingest: 0 };
  if (!existsSync(installationFile)) return none;
  await using snapshot = await openSnapshot(database, installationFile, new AbortController().signal).catch(
    (caught: unknown) => {
      if (caught instanceof PlatformError && caught.code === 'failed_precondition') return undefined;
      throw caught;
    },
  );
  if (snapshot === undefined) return none;
  const versionOf = async (schema: string): Promise<number> => {
    const table = `${schema}.schema_version`;
    const [there] = await snapshot.query(`select to_regclass('${table}') is not null as exists`);
    const [row] = there?.['exists'] === 1 ? await snapshot.query(`select version from ${table}`) : [];
    return Number(row?.['version'] ?? 0);
  };
  return { meta: await versionOf('meta'), ingest: await versionOf('ingest') };
}
