/** Opens meta.sqlite: everything that is not readings. Reads on the caller's thread, writes on one writer thread with group commit (I2). */
import type { Log } from '@platform/base';
import { Kysely } from 'kysely';
import { SqliteThreadDialect } from './dialect.ts';
import type { CloudTables } from './tables.ts';
import { openWriter } from './writer.ts';
import type { Migration } from './writer-protocol.ts';

export interface MetadataOptions {
  readonly file: string;
  /** In rising versions; those above the file's version are applied in one transaction. */
  readonly migrations: readonly Migration[];
  readonly log: Log;
  /** The disk failed: nothing more will be acknowledged, the process must exit (I2). Default: throws where nobody catches. */
  readonly onFatal?: (error: Error) => void;
}

export interface Metadata<Tables = CloudTables> extends AsyncDisposable {
  readonly db: Kysely<Tables>;
}

/** Throws failed_precondition when the file was written by a newer version or is not a database. */
export async function openMetadata<Tables = CloudTables>(options: MetadataOptions): Promise<Metadata<Tables>> {
  const { file, migrations, log, onFatal } = options;
  const writer = await openWriter({ file, migrations, log, ...(onFatal && { onFatal }) });
  const dialect = new SqliteThreadDialect(file, writer);
  const db = new Kysely<Tables>({ dialect });
  return {
    db,
    async [Symbol.asyncDispose]() {
      await db.destroy();
      await writer[Symbol.asyncDispose]();
    },
  };
}
