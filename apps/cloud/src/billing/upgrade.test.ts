import { silentLog, systemClock } from '@platform/base';
import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import { expect, onTestFinished, test } from 'vitest';
import { migrations } from '../metadata/migrations.ts';
import { openMetadata } from '../metadata/open-metadata.ts';
import { requireRight } from '../metadata/row-checks/require-right.ts';
import type { CloudTables } from '../metadata/tables.ts';
import { openTestStore } from '../metadata/testing/test-store.ts';
import { throwUncaught } from '../metadata/testing/throw-uncaught.ts';
import { addUsage } from './meter/add-usage.ts';
import type { HourlyUsage } from './meter/count-uploads.ts';
import { chargeRequests } from './store.ts';

async function whereOf() {
  const store = await openTestStore();
  onTestFinished(() => store[Symbol.asyncDispose]());
  return {
    ...{ file: store.directory.file('meta.sqlite'), database: store.database, log: silentLog },
    ...{ clock: systemClock, onFatal: throwUncaught },
  };
}

test('D44 the answers to charges of an earlier version count as lost, and their rows keep right checksums', async () => {
  const where = await whereOf();
  const row = { organization_id: 'o', key: 'given:k', request: 'r', invoice_id: 'i', created_ms: 5 };
  {
    const earlier = migrations.filter(({ version }) => version < 38);
    await using before = await openMetadata<CloudTables>({ ...where, migrations: earlier });
    await before.db
      .insertInto('charge_requests')
      .values(row as never)
      .execute();
  }
  await using after = await openMetadata<CloudTables>({ ...where, migrations });
  const rows = await after.db.selectFrom('charge_requests').selectAll().execute();
  expect(rows).toMatchObject([{ ...row, answered_ms: null, holder: '' }]);
  requireRight(chargeRequests, rows);
});

test("an upgrade that rebuilds the meter's table keeps each row, and usage can be added to the rows afterwards", async () => {
  const where = await whereOf();
  const rows = Array.from({ length: 300 }, (_, nth) => ({
    organization_id: `o${(nth * 7) % 10}`,
    hour: 3_600_000 * (nth % 30),
    type: nth < 150 ? UsageCostType.TABULAR_DATA_UPLOAD : UsageCostType.PER_MACHINE,
    quantity: nth,
  }));
  const unique = [...new Map(rows.map((row) => [`${row.organization_id} ${row.hour} ${row.type}`, row])).values()];
  {
    const earlier = migrations.filter(({ version }) => version < 30);
    await using before = await openMetadata<CloudTables>({ ...where, migrations: earlier });
    for (const row of unique) await before.db.insertInto('usage_hours').values(row).execute();
  }
  await using after = await openMetadata<CloudTables>({ ...where, migrations });
  const read = () =>
    after.db.selectFrom('usage_hours').selectAll().orderBy('organization_id').orderBy('hour').orderBy('type').execute();
  const kept = await read();
  const keyOf = ({ organization_id, hour, type }: HourlyUsage) => `${organization_id} ${hour} ${type}`;
  expect(Object.fromEntries(kept.map((row) => [keyOf(row), row.quantity]))).toEqual(
    Object.fromEntries(unique.map((row) => [keyOf(row), row.quantity])),
  );
  await after.db.transaction().execute((trx) => addUsage(trx, kept));
  expect((await read()).map(({ quantity }) => quantity)).toEqual(kept.map(({ quantity }) => 2 * quantity));
});
