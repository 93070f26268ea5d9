/** What is known to be damaged, for `platform admin status`. */
import type { Database } from '../metadata/tables.ts';
import { readDamage } from '../tabular/read-damage.ts';

type Status = Readonly<Record<string, unknown>>;

export async function withDamage(db: Database, status: Status): Promise<Status> {
  const { files, catalog } = await readDamage(db);
  const { damagedFiles: others } = status;
  return {
    ...status,
    damagedFiles: [
      ...(Array.isArray(others) ? others : []),
      ...files.map(
        ({ file, sinceMs, reason }) => `parquet/${file}: ${reason}, since ${new Date(sinceMs).toISOString()}`,
      ),
    ],
    damagedCatalog: catalog.map(({ text }) => text),
  };
}
