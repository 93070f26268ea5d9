/** Whether each table of the metadata is protected, so that a new one is not forgotten. */
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { migrations } from '../migrations.ts';
import { checkedTablesOf } from './checked-tables-of.ts';

/** Tables whose rows have no `row_check`, and why that is enough. */
const groups: readonly (readonly [reason: string, tables: readonly string[]])[] = [
  [
    'has a protection of its own: a chain of hashes, or checksums and sums of the catalog',
    [
      'audit_chain',
      'audit_entries',
      'ledger_lines',
      'tabular_copies',
      'tabular_day_proofs',
      'tabular_deletes',
      'tabular_files',
      'tabular_proofs',
      'tabular_state',
    ],
  ],
  ['has a checksum of its target and cause, compared before it is sent', ['outbox_messages']],
  ['the proofs themselves: a change makes the rows that they are about wrong', ['checked_tables', 'row_proofs']],
  [
    'sealed with the instance key, which refuses other bytes',
    ['former_webhook_secrets', 'host_push_credentials', 'instance_secrets', 'push_configurations'],
  ],
  [
    'how far this cloud has got: work is repeated or reported, no answer is made from it',
    [
      'binary_data_removals',
      'instance_state',
      'log_cursors',
      'machine_log_removals',
      'package_removals',
      'payment_events',
      'payment_setups',
      'tabular_health',
      'tabular_recent_deletes',
      'trigger_damaged_rows',
      'trigger_starts',
      'usage_samples',
    ],
  ],
  [
    'when and whether something is sent, not to whom',
    [
      'invitation_mails',
      'outbox_attempts',
      'outbox_mail_rates',
      'outbox_paused_targets',
      'outbox_targets',
      'outbox_unsubscribed',
      'trigger_history',
      'trigger_last_fired',
      'trigger_states',
      'trigger_throttles',
    ],
  ],
  [
    'what machines report about themselves; it is replaced by their next report',
    [
      'gaps',
      'machine_log_days',
      'machine_logs',
      'part_fragment_problems',
      'part_presence',
      'part_status',
      'part_transitions',
    ],
  ],
  [
    'what people chose, shown or used as it is: neither access nor money (a limitation in ADR-0059)',
    [
      'data_indexes',
      'device_push_tokens',
      'favorite_machines',
      'location_metadata',
      'organization_joins',
      'organization_logos',
      'organization_metadata',
      'saved_queries',
    ],
  ],
  ['bounds that the host administrator sets, which protect the cloud', ['limits']],
];

function tableNames(): readonly string[] {
  using db = new DatabaseSync(':memory:');
  for (const { statements, sqliteOnly = [] } of migrations)
    for (const statement of [...statements, ...sqliteOnly]) db.exec(statement);
  const rows = db.prepare(`select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`).all();
  return rows.map(({ name }) => String(name));
}

test('D33 each table of the metadata is checked, or is known not to decide who sees what, what is served or what is owed', () => {
  const checked = checkedTablesOf(migrations).map(({ table }) => table);
  const unchecked = groups.flatMap(([, tables]) => tables);
  expect([...checked, ...unchecked].toSorted()).toEqual(tableNames().toSorted());
});
