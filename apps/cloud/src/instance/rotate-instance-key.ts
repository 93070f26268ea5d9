/**
 * Replaces the instance key.
 *
 * States, each of which a crash may end and a start continues from: one key in the file → two keys in the file (written before
 * anything is under the new one) → one transaction in which every sealed value is re-sealed and re-hashed and the metadata
 * says that the new key is in use → (`finishRotation`) values that were sealed with the old key while it ran are re-sealed, too
 * → one key in the file. Tokens: public clients fetch one and never refresh (D5), so the old signing key keeps vouching for them, sealed in
 * the metadata; with `endSessions` every earlier token stops instead.
 */
import { existsSync } from 'node:fs';
import { type Kysely, sql } from 'kysely';
import { createKeyRing, type KeyMaterial, type KeyRing, newKeyMaterial, writeKeyFile } from './instance-key.ts';
import type { SealedColumn } from './sealed-column.ts';
import { keyStateName, selectInstanceKey, tokenKeyPrefix } from './select-instance-key.ts';
import type { InstanceTables } from './store.ts';
import { writeState } from './stored-state.ts';

export interface RotationOptions<T extends InstanceTables> {
  readonly db: Kysely<T>;
  readonly ring: KeyRing;
  readonly columns: readonly SealedColumn[];
  /** Absent: the key comes from the environment. */
  readonly file: string | undefined;
  /** The new key when it comes from the environment. */
  readonly next?: KeyMaterial;
  /** Tokens by earlier keys stop at once: for a key that others may know. Default: they stand. */
  readonly endSessions: boolean;
  /** Runs in the transaction of the change, for the audit trail. */
  readonly inTransaction: (trx: Kysely<T>, resealed: number) => Promise<void>;
}

export interface RotationReport {
  readonly from: string;
  readonly to: string;
  readonly resealed: number;
}

export async function rotateInstanceKey<T extends InstanceTables>(
  options: RotationOptions<T>,
): Promise<RotationReport> {
  const { ring, file, columns, endSessions } = options;
  const db = options.db;
  const plain = db as unknown as Kysely<InstanceTables>;
  const old = ring.current;
  const next = options.next ?? newKeyMaterial();
  ring.add(next);
  if (file !== undefined) writeKeyFile(file, [old, next]);

  const signing = old.signing.toString('base64');
  let resealed = 0;
  // Opens everything that the ring opens, and seals with the new key.
  const target = createKeyRing(next, ring.known, 'the instance key');
  await db.transaction().execute(async (trx) => {
    const own = trx as unknown as Kysely<InstanceTables>;
    if (endSessions) {
      const names = await own.selectFrom('instance_secrets').select('name').execute();
      for (const { name } of names.filter((row) => row.name.startsWith(tokenKeyPrefix)))
        await own.deleteFrom('instance_secrets').where('name', '=', name).execute();
    } else {
      await own
        .insertInto('instance_secrets')
        .values({ name: `${tokenKeyPrefix}${old.id}`, secret: target.encrypt(signing) })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .execute();
    }
    resealed = await resealAll(own, target, columns);
    await writeState(own, keyStateName, next.id);
    await options.inTransaction(trx, resealed);
  });
  await selectInstanceKey(plain, ring);
  resealed += await resealLate({ db: plain, ring, columns });
  return { from: old.id, to: next.id, resealed };
}

export interface FinishOptions {
  readonly db: Kysely<InstanceTables>;
  readonly ring: KeyRing;
  readonly columns: readonly SealedColumn[];
  /** As in the rotation. */
  readonly file: string | undefined;
}

/**
 * Ends a rotation: re-seals what is still under the old key and takes that out of the file. No one may be holding a value that
 * was sealed before the rotation and is not written yet: at a start, or a while after it. Without a rotation it does nothing.
 */
export async function finishRotation(options: FinishOptions): Promise<number> {
  const { ring, file } = options;
  if (ring.known.length === 1) return 0;
  const resealed = await resealLate(options);
  if (file !== undefined && existsSync(file)) writeKeyFile(file, [ring.current]);
  return resealed;
}

/** What was sealed with the old key while the rotation ran. */
async function resealLate({ db, ring, columns }: Omit<FinishOptions, 'file'>): Promise<number> {
  let total = 0;
  for (;;) {
    const resealed = await db.transaction().execute((trx) => resealAll(trx, ring, columns));
    total += resealed;
    if (resealed === 0) return total;
  }
}

async function resealAll(
  trx: Kysely<InstanceTables>,
  ring: Pick<KeyRing, 'encrypt' | 'decrypt' | 'hash' | 'isCurrent'>,
  columns: readonly SealedColumn[],
): Promise<number> {
  let resealed = 0;
  for (const { table, key, sealed, hash } of columns) {
    const names = sql.join([...key, sealed].map((name) => sql.ref(name)));
    const { rows } = await sql<
      Record<string, unknown>
    >`select ${names} from ${sql.table(table)} where ${sql.ref(sealed)} is not null`.execute(trx);
    for (const row of rows) {
      const value = row[sealed];
      if (!(value instanceof Uint8Array) || ring.isCurrent(value)) continue;
      const secret = ring.decrypt(value);
      const changes = [sql`${sql.ref(sealed)} = ${ring.encrypt(secret)}`];
      if (hash !== undefined) changes.push(sql`${sql.ref(hash)} = ${ring.hash(secret)}`);
      const where = key.map((name) => sql`${sql.ref(name)} = ${row[name]}`);
      await sql`update ${sql.table(table)} set ${sql.join(changes)} where ${sql.join(where, sql` and `)}`.execute(trx);
      resealed++;
    }
  }
  return resealed;
}
