import { silentLog, systemClock } from '@platform/base';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { insertFile } from '../../retention/testing/insert-file.ts';
import { migrations } from '../migrations.ts';
import { openMetadata } from '../open-metadata.ts';
import type { CloudTables } from '../tables.ts';
import { alterRows } from '../testing/test-row-watch.ts';
import { openTestStore, storeKinds, type TestStore } from '../testing/test-store.ts';
import { throwUncaught } from '../testing/throw-uncaught.ts';
import { checkedTablesOf } from './checked-tables-of.ts';
import { findRowDamage } from './find-row-damage.ts';
import { openRowReader } from './open-row-reader.ts';

const open = ({ directory, database }: TestStore) =>
  openMetadata<CloudTables>({
    ...{ clock: systemClock, onFatal: throwUncaught, database, log: silentLog, file: directory.file('meta.sqlite') },
    migrations,
  });

async function damagesOf({ directory, database }: TestStore): Promise<readonly string[]> {
  const store = { file: directory.file('meta.sqlite'), database };
  await using reader = await openRowReader(store, undefined, new AbortController().signal);
  const { damages } = await findRowDamage(reader, checkedTablesOf(migrations));
  return damages.map(({ text }) => text);
}

test.each(storeKinds)(
  'D33 in %s, missing tags, boxes, PDFs, billing services and counts of usage are found',
  async (kind) => {
    await using store = await openTestStore(kind, migrations);
    await using metadata = await open(store);
    const { db } = metadata;
    const captured_us = Date.UTC(2026, 4, 17) * 1_000;
    const pdf = new Uint8Array([37, 80, 68, 70]);
    const organization = sql`insert into organizations (id, name, created_ms, webhook_secret) values ('acme', 'Acme', 1, ${pdf})`;
    await organization.execute(db);
    for (const id of ['a', 'b']) await insertFile(db, { captured_us, organization_id: 'acme', id });
    for (const statement of [
      sql`insert into binary_data_tags (binary_data_id, tag, file_organization_id, file_captured_us) values ('a', 't', 'acme', ${captured_us}), ('b', 't', 'acme', ${captured_us})`,
      sql`insert into binary_data_boxes (id, binary_data_id, label, place, created_ms, file_organization_id, file_captured_us) values ('box', 'a', 'l', '{}', 1, 'acme', ${captured_us})`,
      sql`insert into billing_services (organization_id, address, enabled_ms) values ('acme', '{}', 1)`,
      sql`insert into invoices (id, biller_id, organization_id, sequence, number, kind, is_test, currency, subtotal, tax, total, document, period, issued_ms, due_ms, state, paid, failure) values ('i', 'acme', 'acme', 1, '1', 'month', 0, 'USD', 1, 0, 1, '{}', '2026-05', 1, 1, 'open', 0, '')`,
      sql`insert into machine_log_usage (organization_id, hour, bytes) values ('acme', ${captured_us / 1_000}, 7)`,
      sql`insert into notification_usage (organization_id, hour, type, sent) values ('acme', ${captured_us / 1_000}, 'push', 7)`,
      sql`insert into tabular_usage (organization_id, month, scanned_bytes, queries) values ('acme', '2026-05', 7, 1)`,
      sql`insert into invoice_pdfs (invoice_id, pdf) values ('i', ${pdf})`,
    ])
      await statement.execute(db);
    expect(await damagesOf(store)).toEqual([]);
    const tables = ['binary_data_tags', 'binary_data_boxes', 'invoice_pdfs', 'billing_services'];
    for (const table of [...tables, 'machine_log_usage', 'notification_usage', 'tabular_usage'])
      await alterRows(store, `delete from ${table}`);
    expect((await damagesOf(store)).toSorted()).toEqual([
      'billing_services of acme: expected 1 rows, found 0',
      'binary_data_boxes of acme on 2026-05-17: expected 1 rows, found 0',
      'binary_data_tags of acme on 2026-05-17: expected 2 rows, found 0',
      'invoice_pdfs of i: expected 1 rows, found 0',
      'machine_log_usage of acme on 2026-05-17: expected 1 rows, found 0',
      'notification_usage of acme on 2026-05-17: expected 1 rows, found 0',
      'tabular_usage of acme: expected 1 rows, found 0',
    ]);
  },
);
