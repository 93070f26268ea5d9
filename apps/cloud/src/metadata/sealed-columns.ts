/** All columns sealed with the instance key, collected from the features that own them: a new key must re-seal them (D6). */
import { accessSealed } from '../access/store.ts';
import { accountsSealed } from '../accounts/store.ts';
import type { SealedColumn } from '../instance/sealed-column.ts';
import { instanceSealed } from '../instance/store.ts';
import { machinesSealed } from '../machines/store.ts';
import { outboxSealed } from '../outbox/store.ts';

export const sealedColumns: readonly SealedColumn[] = [
  ...accessSealed,
  ...accountsSealed,
  ...instanceSealed,
  ...machinesSealed,
  ...outboxSealed,
];
