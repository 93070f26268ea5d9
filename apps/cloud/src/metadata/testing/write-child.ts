/**
 * A process that writes rows to a metadata file, one after the other, and says which are acknowledged, for tests that make its disk fail.
 *
 * Arguments: the file, the first number and the number of rows. A row that is there already counts as acknowledged, as for a client that
 * asks whether its edit was saved. Output, one JSON object a line: {"ack":n}.
 */
import { writeSync } from 'node:fs';
import { errorText, silentLog, systemClock } from '@platform/base';
import { openMetadata } from '../open-metadata.ts';

export interface WrittenTables {
  edit: { id: number; text: string };
}

export const editMigrations = [
  { version: 1, statements: ['create table edit (id integer primary key, text text not null)'] },
];

/** As the cloud does (compose.ts). */
function onFatal(error: Error): never {
  process.stderr.write(`stopping without answering: ${errorText(error)}\n`);
  process.exit(70);
}

async function main(file: string, first: number, count: number): Promise<void> {
  await using metadata = await openMetadata<WrittenTables>({
    ...{ file, migrations: editMigrations, clock: systemClock, log: silentLog, onFatal },
  });
  const { db } = metadata;
  for (let id = first; id < first + count; id++) {
    const found = await db.selectFrom('edit').select('id').where('id', '=', id).executeTakeFirst();
    if (found === undefined)
      await db
        .insertInto('edit')
        .values({ id, text: `edit ${id} `.repeat(2_000) })
        .execute();
    writeSync(1, `${JSON.stringify({ ack: id })}\n`);
  }
}

const [, self, file, first, count] = process.argv;
if (self !== undefined && import.meta.url.endsWith(self.slice(self.lastIndexOf('/'))) && file && count)
  await main(file, Number(first), Number(count));
