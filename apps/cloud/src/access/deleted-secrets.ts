/**
 * Secrets that ended because what they were for was deleted since the cloud was started, as hashes: those of parts, and those of API keys
 * whose only role was on it. Whoever proves one is told so, and nobody else learns that there ever was a part or key (ADR-0003, ADR-0082).
 */
import { timingSafeEqual } from 'node:crypto';
import type { InstanceKey } from '../instance/instance-key.ts';

/** Of so many parts and keys; what was deleted first is forgotten first. */
const most = 10_000;

export type DeletedPlace = 'machine' | 'location' | 'organization';

export interface DeletedSecrets {
  /** @param id of the part or key. @param place what was deleted */
  put(id: string, hashes: readonly Uint8Array[], place: DeletedPlace): void;
  /** What was deleted, if this was a valid secret of the part or key. */
  placeOf(id: string, secret: string): DeletedPlace | undefined;
}

export function createDeletedSecrets(instanceKey: Pick<InstanceKey, 'hashes'>): DeletedSecrets {
  const deleted = new Map<string, { readonly hashes: readonly Uint8Array[]; readonly place: DeletedPlace }>();
  return {
    put(id, hashes, place) {
      deleted.set(id, { hashes, place });
      const [oldest] = deleted.keys();
      if (deleted.size > most && oldest !== undefined) deleted.delete(oldest);
    },
    placeOf(id, secret) {
      const known = deleted.get(id);
      const isRight =
        known !== undefined &&
        instanceKey.hashes(secret).some((hash) => known.hashes.some((one) => timingSafeEqual(one, hash)));
      return isRight ? known.place : undefined;
    },
  };
}
