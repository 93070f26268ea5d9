/**
 * The secrets of parts that were deleted since the cloud was started, as hashes: whoever proves one is told that the machine was deleted, and
 * nobody else learns that there ever was a part (ADR-0003).
 */
import { timingSafeEqual } from 'node:crypto';
import type { InstanceKey } from '../instance/instance-key.ts';

/** Of these parts; the one that was deleted first is forgotten first. */
const maxParts = 10_000;

export interface DeletedSecrets {
  put(partId: string, hashes: readonly Uint8Array[]): void;
  has(partId: string, secret: string): boolean;
}

export function createDeletedSecrets(instanceKey: Pick<InstanceKey, 'hashes'>): DeletedSecrets {
  const deleted = new Map<string, readonly Uint8Array[]>();
  return {
    put(partId, hashes) {
      deleted.set(partId, hashes);
      const [oldest] = deleted.keys();
      if (deleted.size > maxParts && oldest !== undefined) deleted.delete(oldest);
    },
    has(partId, secret) {
      const known = deleted.get(partId);
      return (
        known !== undefined &&
        instanceKey.hashes(secret).some((hash) => known.some((one) => timingSafeEqual(one, hash)))
      );
    },
  };
}
