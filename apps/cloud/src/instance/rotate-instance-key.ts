/**
 * Replaces the instance key.
 *
 * States; after a crash in any of them, a start continues: one key in the file → two keys in the file (written before anything uses the
 * new one) → one transaction that re-seals and re-hashes every sealed value and makes the new key current in the metadata →
 * (`finishRotation`) values sealed with the old key in the meantime are re-sealed → one key in the file.
 *
 * Tokens: public clients fetch one and never refresh it (D5). The old signing key is therefore kept, sealed, in the metadata and still
 * verifies them; with `endSessions`, every earlier token stops instead.
 */
import { existsSync } from 'node:fs';
import { type Kysely, sql } from 'kysely';
import { createKeyRing, type KeyMaterial, type KeyRing, newKeyMaterial, writeKeyFile } from './instance-key.ts';
import type { SealedColumn } from './sealed-column.ts';
import { keyStateName, selectInstanceKey, tokenKeyPrefix } from './select-instance-key.ts';
import type { InstanceDatabase, InstanceTables } from './store.ts';
import { writeState } from './stored-state.ts';

export interface RotationOptions<T extends InstanceTables> {
  readonly db: Kysely<T>;
  readonly ring: KeyRing;
  readonly columns: readonly SealedColumn[];
  /** Absent if the key comes from the environment. */
  readonly file: string | undefined;
  /** The new key, if it comes from the environment. */
  readonly next?: KeyMaterial;
  /** End all tokens of earlier keys at once: for a key that others may know. Default: they stay valid. */
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
  const plain = db as unknown as InstanceDatabase;
  const old = ring.current;
  const next = options.next ?? newKeyMaterial();
  ring.add(next);
  if (file !== undefined) writeKeyFile(file, [old, next]);

  const signing = old.signing.toString('base64');
  let resealed = 0;
  // Opens everything that the ring opens, and seals with the new key.
  const target = createKeyRing(next, ring.known, 'the instance key');
  await db.transaction().execute(async (trx) => {
    const own = trx as unknown as InstanceDatabase;
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
  readonly db: InstanceDatabase;
  readonly ring: KeyRing;
  readonly columns: readonly SealedColumn[];
  /** As in the rotation. */
  readonly file: string | undefined;
}

/**
 * Ends a rotation: re-seals values still under the old key and removes that key from the file. No one may still hold an unwritten value
 * that was sealed before the rotation, so it must be called at a start or some time after the rotation. Without a rotation it does nothing.
 */
export async function finishRotation(options: FinishOptions): Promise<number> {
  const { ring, file } = options;
  if (ring.known.length === 1) return 0;
  const resealed = await resealLate(options);
  if (file !== undefined && existsSync(file)) writeKeyFile(file, [ring.current]);
  return resealed;
}

/** Re-seals values sealed with the old key during the rotation. */
async function resealLate({ db, ring, columns }: Omit<FinishOptions, 'file'>): Promise<number> {
  let total = 0;
  for (;;) {
    const resealed = await db.transaction().execute((trx) => resealAll(trx, ring, columns));
    total += resealed;
    if (resealed === 0) return total;
  }
}

async function resealAll(
  trx: InstanceDatabase,
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
