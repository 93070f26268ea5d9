import { silentLog, systemClock } from '@platform/base';
import { expect, onTestFinished, test } from 'vitest';
import { retentionDays } from '../binary/store.ts';
import { migrations } from '../metadata/migrations.ts';
import { openMetadata } from '../metadata/open-metadata.ts';
import { requireIntactSet } from '../metadata/row-checks/require-complete.ts';
import type { CloudTables } from '../metadata/tables.ts';
import { openTestStore } from '../metadata/testing/test-store.ts';
import { throwUncaught } from '../metadata/testing/throw-uncaught.ts';
import { createPolicies } from './policies.ts';

test('D33 retention of an earlier version gets its organization and its checksums', async () => {
  const store = await openTestStore();
  onTestFinished(() => store[Symbol.asyncDispose]());
  const where = {
    ...{ file: store.directory.file('meta.sqlite'), database: store.database, log: silentLog },
    ...{ clock: systemClock, onFatal: throwUncaught },
  };
  const policies = { resources: [], recent: [], deleteOnPartDeletion: false };
  {
    const earlier = migrations.filter(({ version }) => version < 40);
    await using before = await openMetadata<CloudTables>({ ...where, migrations: earlier });
    const { db } = before;
    for (const organization_id of ['a', 'b']) {
      const part_id = `part of ${organization_id}`;
      const policy = { part_id, organization_id, policies: JSON.stringify(policies), change: 1 };
      await db.insertInto('data_policies').values(policy).execute();
      await db.insertInto('data_policy_changes').values({ organization_id, change: 1 }).execute();
      const days = { part_id, component_type: '', component_name: '', days: 9 };
      await db.insertInto('data_retention_days').values(days).execute();
    }
  }
  await using after = await openMetadata<CloudTables>({ ...where, migrations });
  const rows = await after.db.selectFrom('data_retention_days').selectAll().orderBy('part_id').execute();
  expect(rows.map(({ organization_id }) => organization_id)).toEqual(['a', 'b']);
  await requireIntactSet(after.db, retentionDays, 'a');
  expect((await createPolicies(after.db).of('b')).parts.size).toBe(1);
});
