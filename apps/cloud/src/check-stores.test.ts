import { silentLog } from '@platform/base';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { binaryV3 } from './binary/store.ts';
import { checkStores } from './check-stores.ts';
import { openMetadata } from './metadata/open-metadata.ts';
import type { CloudTables } from './metadata/tables.ts';
import { tabularDdl } from './tabular/store.ts';
import { triggersDdl } from './triggers/store.ts';

test('I3 a log that ends before what the catalog or a follower has seen is refused with both positions', async () => {
  await using directory = await temporaryDirectory();
  await using metadata = await openMetadata<CloudTables>({
    file: `${directory.path}/meta.sqlite`,
    migrations: [{ version: 1, statements: [...tabularDdl, ...triggersDdl, ...binaryV3] }],
    log: silentLog,
  });
  const { db } = metadata;
  const endingAt = (position: number) => ({ lastPosition: () => position });
  await expect(checkStores(db, endingAt(0), 'd')).resolves.toBeUndefined();
  await db.updateTable('tabular_state').set({ sealed_position: 7 }).execute();
  await db.insertInto('trigger_cursors').values({ name: 'triggers', position: 9 }).execute();
  await expect(checkStores(db, endingAt(9), 'd')).resolves.toBeUndefined();
  await expect(checkStores(db, endingAt(8), 'd')).rejects.toThrow(/to reach position 9, .* found it to end at 8/);
  await db.insertInto('binary_data_cursor').values({ name: 'binary-data', position: 10 }).execute();
  await expect(checkStores(db, endingAt(9), 'd')).rejects.toThrow(/to reach position 10, .* found it to end at 9/);
});
