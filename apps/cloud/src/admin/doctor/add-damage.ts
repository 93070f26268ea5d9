/** Adds known damage to the answer of `platform admin status`. */
import type { Database } from '../../metadata/tables.ts';
import { readDamage } from '../../tabular/integrity/read-damage.ts';

type Status = Readonly<Record<string, unknown>>;

export async function addDamage(db: Database, status: Status): Promise<Status> {
  const { files, catalog } = await readDamage(db);
  const { damagedFiles: others } = status;
  // A stopped cloud reads no files, so without findings nothing is known.
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
