/** An installation after its first start, for tests: a real database in a temporary directory, deleted with the test. */
import { silentLog, systemClock } from '@platform/base';
import { onTestFinished } from 'vitest';
import { createFirstAccount } from '../../identity/create-first-account.ts';
import { type InstanceKey, openInstanceKey } from '../../instance/instance-key.ts';
import { migrations } from '../../metadata/migrations.ts';
import { openMetadata } from '../../metadata/open-metadata.ts';
import type { RowWatch } from '../../metadata/row-checks/row-watch.ts';
import type { CloudTables, Database } from '../../metadata/tables.ts';
import { alterRows, testRowWatch } from '../../metadata/testing/test-row-watch.ts';
import { openTestStore } from '../../metadata/testing/test-store.ts';
import { throwUncaught } from '../../metadata/testing/throw-uncaught.ts';
import { type AccountTree, openAccountTree } from '../tree.ts';

export interface FirstAccount {
  readonly db: Database;
  readonly rows: RowWatch;
  /** Runs a statement without the cloud's knowledge. */
  alterRows(statement: string): Promise<void>;
  readonly instanceKey: InstanceKey;
  readonly tree: AccountTree;
  readonly organizationId: string;
  readonly locationId: string;
}

/** Opens a store with the tables of accounts and machines, one organization and one location, created at 1 ms. */
export async function openFirstAccount(): Promise<FirstAccount> {
  const store = await openTestStore(undefined, migrations);
  const { directory, database } = store;
  const metadata = await openMetadata<CloudTables>({
    clock: systemClock,
    onFatal: throwUncaught,
    file: directory.file('meta.sqlite'),
    database,
    migrations,
    log: silentLog,
  });
  onTestFinished(async () => {
    await metadata[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });
  const { db } = metadata;
  const instanceKey = openInstanceKey(directory.file('instance.key'), undefined);
  await createFirstAccount(db, instanceKey, 1);
  const tree = await openAccountTree(db);
  const organizationId = tree.organizations()[0]?.id ?? '';
  const locationId = tree.locationsOf(organizationId)[0]?.id ?? '';
  return {
    ...{ db, instanceKey, tree, organizationId, locationId },
    rows: testRowWatch(db, { file: directory.file('meta.sqlite'), database }),
    alterRows: (statement) => alterRows(store, statement),
  };
}
