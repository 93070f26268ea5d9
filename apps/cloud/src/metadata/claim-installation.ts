/**
 * Binds a Postgres database and a data directory to each other, because their contents refer to each other. The first start writes the
 * installation's id to both, first to the directory. A later start is refused if the ids differ, or if only the database has one.
 */
import { readFileSync } from 'node:fs';
import { failedPrecondition, newId } from '@platform/base';
import { writeFileAtomic } from '../instance/write-file-atomic.ts';
import type { PostgresWriter } from './postgres/postgres-writer.ts';

export const installationTable = 'create table if not exists installation (id text not null)';

/** @param file in the data directory. Throws failed_precondition, without changes, if they do not belong to one installation. */
export async function claimInstallation(writer: PostgresWriter, file: string): Promise<void> {
  await writer.inTransaction(async (transaction) => {
    await transaction.query(installationTable);
    const { rows } = await transaction.query('select id from installation');
    const theirs: unknown = rows[0]?.id;
    const ours = readInstallation(file);
    if (theirs !== undefined && theirs !== ours) {
      throw failedPrecondition(
        `${writer.shown} belongs to another data directory: expected ${file} to name installation ${String(theirs)}, found ${ours ?? 'no such file'}. Nothing was changed; start with the directory that belongs to it, or give this one an empty database`,
      );
    }
    if (theirs === undefined) {
      const id = ours ?? newId();
      if (ours === undefined) writeInstallation(file, id);
      await transaction.query('insert into installation (id) values ($1)', [id]);
    }
  });
}

export function writeInstallation(file: string, id: string): void {
  writeFileAtomic(file, `${JSON.stringify({ installation: id })}\n`);
}

/** The id in a data directory; undefined if the file does not exist. */
export function readInstallation(file: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (caught) {
    if (caught instanceof Error && 'code' in caught && caught.code === 'ENOENT') return undefined;
    throw caught;
  }
  const id = /^\{"installation":"([^"]+)"\}\s*$/.exec(text)?.[1];
  if (id === undefined) throw failedPrecondition(`${file}: expected {"installation":"…"}, found ${text.slice(0, 80)}`);
  return id;
}
