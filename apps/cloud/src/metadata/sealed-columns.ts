/** Every column that is sealed with the instance key, gathered from the features that own them: what a new key must re-seal (D6). */
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
