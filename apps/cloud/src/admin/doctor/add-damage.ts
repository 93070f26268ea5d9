/** What is known to be damaged, for `platform admin status`. */
import type { Database } from '../../metadata/tables.ts';
import { readDamage } from '../../tabular/integrity/read-damage.ts';

type Status = Readonly<Record<string, unknown>>;

export async function addDamage(db: Database, status: Status): Promise<Status> {
  const { files, catalog } = await readDamage(db);
  const { damagedFiles: others } = status;
  // A cloud that is stopped reads no files: nothing that is known does not mean that nothing is damaged.
  const isKnown = status['running'] !== false || files.length > 0;
  return {
    ...status,
    damagedFiles: isKnown
      ? [
          ...(Array.isArray(others) ? others : []),
          ...files.map(
            ({ file, sinceMs, reason }) => `parquet/${file}: ${reason}, since ${new Date(sinceMs).toISOString()}`,
          ),
        ]
      : null,
    damagedCatalog: catalog.map(({ text }) => text),
  };
}
