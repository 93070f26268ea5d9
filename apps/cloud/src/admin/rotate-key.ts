/** `platform admin rotate-instance-key`: replaces the instance key in the file or the environment, audited. */
import { failedPrecondition } from '@platform/base';
import { audit, type OwnActor } from '../access/audit.ts';
import { type KeyRing, keyMaterial } from '../instance/instance-key.ts';
import { type RotationReport, rotateInstanceKey } from '../instance/rotate-instance-key.ts';
import { sealedColumns } from '../metadata/sealed-columns.ts';
import type { Database } from '../metadata/tables.ts';

export interface RotateKeyOptions {
  readonly db: Database;
  readonly instanceKey: KeyRing;
  /** Absent if the key comes from the environment. */
  readonly keyFile: string | undefined;
  /** Base64 of 32 bytes: required if the key comes from the environment, refused if it comes from the file. */
  readonly next: string | undefined;
  readonly endSessions: boolean;
  readonly by: OwnActor;
  readonly now: () => number;
}

/** @throws failed_precondition if the key comes from the environment and no other one is given. */
export async function rotateKey(options: RotateKeyOptions): Promise<RotationReport> {
  const { db, instanceKey, keyFile, endSessions, by, now } = options;
  const next = options.next === undefined ? undefined : keyMaterial(options.next, 'PLATFORM_INSTANCE_KEY_NEXT');
  if (keyFile === undefined && (next === undefined || next.id === instanceKey.current.id))
    throw failedPrecondition(
      'the instance key comes from PLATFORM_INSTANCE_KEY: expected the new key in PLATFORM_INSTANCE_KEY_NEXT, found none. Keep both set until the rotation is complete, then move the new key to PLATFORM_INSTANCE_KEY',
    );
  const from = instanceKey.current.id;
  return rotateInstanceKey({
    db,
    ring: instanceKey,
    columns: sealedColumns,
    file: keyFile,
    ...(next !== undefined && keyFile === undefined && { next }),
    endSessions,
    inTransaction: (trx, resealed) =>
      audit(trx, by, now(), 'admin.rotate-instance-key', ['installation', '', null], { from, resealed, endSessions }),
  });
}
