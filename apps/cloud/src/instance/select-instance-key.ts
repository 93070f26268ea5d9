/** Which key the data is under, and which earlier keys still vouch for tokens: the metadata says so, once it is open. */
import { PlatformError } from '@platform/base';
import type { Kysely } from 'kysely';
import type { KeyRing } from './instance-key.ts';
import type { InstanceTables } from './store.ts';
import { readState } from './stored-state.ts';

/** Name in `instance_state` of the id of the key in use. */
export const keyStateName = 'instance-key';
/** Names in `instance_secrets` begin with it; the id of the key follows. */
export const tokenKeyPrefix = 'token-key:';

/**
 * Puts the right key of the ring to use; a store that never said takes the first.
 *
 * @throws failed_precondition when the store is under a key that is not in the ring.
 */
export async function selectInstanceKey(db: Kysely<InstanceTables>, ring: KeyRing): Promise<void> {
  const stored = await readState(db, keyStateName);
  const key = stored === undefined ? ring.current : ring.known.find(({ id }) => id === stored);
  if (key === undefined)
    throw new PlatformError(
      'failed_precondition',
      `the secrets in the data directory are encrypted with the instance key ${stored}, found ${ring.known.map(({ id }) => id).join(' and ')}: start with the key that belongs to the data (instance.key or PLATFORM_INSTANCE_KEY)`,
    );
  if (stored === undefined) {
    await db
      .insertInto('instance_state')
      .values({ name: keyStateName, value: key.id })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
  }
  // At once: a key in use without the earlier ones would refuse every token until those are read.
  ring.use(key, await readTokenKeys(db, ring));
}

async function readTokenKeys(db: Kysely<InstanceTables>, ring: KeyRing): Promise<Buffer[]> {
  const rows = await db.selectFrom('instance_secrets').selectAll().execute();
  return rows
    .filter(({ name }) => name.startsWith(tokenKeyPrefix))
    .map(({ secret }) => Buffer.from(ring.decrypt(secret), 'base64'));
}
