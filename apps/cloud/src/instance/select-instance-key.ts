/** Selects the key that protects the data, and the earlier keys that still verify tokens, as recorded in the metadata. */
import { failedPrecondition } from '@platform/base';
import type { KeyRing } from './instance-key.ts';
import type { InstanceDatabase } from './store.ts';
import { readState } from './stored-state.ts';

/** Name in `instance_state` of the current key's id. */
export const keyStateName = 'instance-key';
/** Prefix of names in `instance_secrets`; the key's id follows. */
export const tokenKeyPrefix = 'token-key:';

/**
 * Makes the right key of the ring current; if the store records none, the first one.
 *
 * @throws failed_precondition if the store uses a key that is not in the ring.
 */
export async function selectInstanceKey(db: InstanceDatabase, ring: KeyRing): Promise<void> {
  const stored = await readState(db, keyStateName);
  const key = stored === undefined ? ring.current : ring.known.find(({ id }) => id === stored);
  if (key === undefined)
    throw failedPrecondition(
      `the secrets in the data directory are encrypted with the instance key ${stored}, found ${ring.known.map(({ id }) => id).join(' and ')}: start with the key that belongs to the data (instance.key or PLATFORM_INSTANCE_KEY)`,
    );
  if (stored === undefined) {
    await db
      .insertInto('instance_state')
      .values({ name: keyStateName, value: key.id })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
  }
  // Set both at once: without the earlier keys, every earlier token would be refused until they are read.
  ring.use(key, await readTokenKeys(db, ring));
}

async function readTokenKeys(db: InstanceDatabase, ring: KeyRing): Promise<Buffer[]> {
  const rows = await db.selectFrom('instance_secrets').selectAll().execute();
  return rows
    .filter(({ name }) => name.startsWith(tokenKeyPrefix))
    .map(({ secret }) => Buffer.from(ring.decrypt(secret), 'base64'));
}
