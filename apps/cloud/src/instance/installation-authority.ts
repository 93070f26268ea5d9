/** The installation's own authority: created on first use, kept sealed in the metadata. */
import type { CertificatePair } from './authority.ts';
import type { InstanceKey } from './instance-key.ts';
import type { InstanceDatabase } from './store.ts';

const name = 'authority';

/** @returns certificate and private key of the authority. */
export async function installationAuthority(
  db: InstanceDatabase,
  instanceKey: InstanceKey,
  nowMs: number,
): Promise<CertificatePair> {
  const stored = async (): Promise<CertificatePair | undefined> => {
    const row = await db.selectFrom('instance_secrets').select('secret').where('name', '=', name).executeTakeFirst();
    return row === undefined ? undefined : JSON.parse(instanceKey.decrypt(row.secret));
  };
  const found = await stored();
  if (found !== undefined) return found;
  // Loaded on demand: most installations never create a certificate.
  const { createAuthority } = await import('./authority.ts');
  const created = await createAuthority(nowMs);
  await db
    .insertInto('instance_secrets')
    .values({ name, secret: instanceKey.encrypt(JSON.stringify(created)) })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  return (await stored()) ?? created;
}
