/**
 * The valid secrets of parts. A token names its secret by the secret's epoch, so that deleting one secret stops only its own tokens (D5,
 * D6).
 */
import { newId, newSecret } from '@platform/base';
import { createDeletedSecrets, type DeletedSecrets } from '../access/deleted-secrets.ts';
import type { InstanceKey } from '../instance/instance-key.ts';
import { requireCompleteSet, requireIntactSet } from '../metadata/row-checks/require-complete.ts';
import { requireRight } from '../metadata/row-checks/require-right.ts';
import type { Database } from '../metadata/tables.ts';
import { checkedPartSecrets } from './store.ts';

export interface PartSecret {
  readonly id: string;
  readonly partId: string;
  readonly epoch: number;
  readonly createdMs: number;
  /** In plaintext. */
  readonly text: string;
}

export interface PartSecretStore {
  /** The epoch of the secret, if it is a valid one of the part. */
  check(partId: string, secret: string): Promise<number | undefined>;
  /** Whether the secret of this epoch is still valid; from memory. */
  isCurrent(partId: string, epoch: number): boolean;
  /** The valid secrets of the parts in plaintext, oldest first: for the parts themselves and for owners (D6). */
  list(partIds: readonly string[]): Promise<readonly PartSecret[]>;
  /** Must be called after the commit that inserted the secret. */
  put(secret: Pick<PartSecret, 'partId' | 'epoch'>): void;
  /** Must be called after the commit that deleted the secret. */
  forget(secret: Pick<PartSecret, 'partId' | 'epoch'>): void;
  forgetPart(partId: string): void;
  /** Of parts that were deleted, and of API keys that ended with a deletion. */
  readonly deleted: DeletedSecrets;
}

export async function openPartSecrets(db: Database, instanceKey: InstanceKey): Promise<PartSecretStore> {
  const living = new Map<string, Set<number>>();
  const put = ({ partId, epoch }: Pick<PartSecret, 'partId' | 'epoch'>): void => {
    living.set(partId, (living.get(partId) ?? new Set()).add(epoch));
  };
  for (const row of await db.selectFrom('part_secrets').select(['part_id', 'epoch']).execute())
    put({ partId: row.part_id, epoch: row.epoch });
  return {
    async check(partId, secret) {
      const row = await db
        .selectFrom('part_secrets')
        .selectAll()
        .where('part_id', '=', partId)
        .where((eb) => eb.or(instanceKey.hashes(secret).map((hash) => eb('secret_hash', '=', hash))))
        .executeTakeFirst();
      // It could be the missing one.
      if (row === undefined) await requireIntactSet(db, checkedPartSecrets, partId);
      else requireRight(checkedPartSecrets, [row]);
      return row?.epoch;
    },
    isCurrent: (partId, epoch) => living.get(partId)?.has(epoch) ?? false,
    async list(partIds) {
      if (partIds.length === 0) return [];
      const rows = await db
        .selectFrom('part_secrets')
        .selectAll()
        .where('part_id', 'in', partIds)
        .orderBy('created_ms')
        .orderBy('epoch')
        .execute();
      requireRight(checkedPartSecrets, rows);
      for (const partId of partIds) await requireCompleteSet(db, checkedPartSecrets, partId);
      return rows.map((row) => ({
        id: row.id,
        partId: row.part_id,
        epoch: row.epoch,
        createdMs: row.created_ms,
        text: instanceKey.decrypt(row.secret),
      }));
    },
    put,
    forget({ partId, epoch }) {
      living.get(partId)?.delete(epoch);
    },
    forgetPart: (partId) => void living.delete(partId),
    deleted: createDeletedSecrets(instanceKey),
  };
}

/** Inserts a new secret of a part. `epoch`: must never have been used by a secret of the part. */
export async function insertPartSecret(
  trx: Database,
  instanceKey: InstanceKey,
  { partId, epoch, nowMs }: { partId: string; epoch: number; nowMs: number },
): Promise<PartSecret> {
  const secret: PartSecret = { id: newId(), partId, epoch, createdMs: nowMs, text: newSecret() };
  await trx
    .insertInto('part_secrets')
    .values({
      id: secret.id,
      part_id: partId,
      secret_hash: instanceKey.hash(secret.text),
      secret: instanceKey.encrypt(secret.text),
      created_ms: nowMs,
      epoch,
    })
    .execute();
  return secret;
}
