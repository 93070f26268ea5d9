/**
 * The logo of an organization: PNG or JPEG. Pages and e-mails to strangers show it, so it is public under an unguessable address, which
 * changes with the logo (ADR-0012).
 */
import { randomBytes } from 'node:crypto';
import { invalidArgument } from '@platform/base';
import { audit, type Caller } from '../../access/audit.ts';
import { requireAtMost } from '../../text-rules/require-at-most.ts';
import type { AccountsDeps } from '../accounts-deps.ts';

export const maxLogoBytes: number = 200_000;
export const logoPath: string = '/logos/';

/** The caller must own the organization. Empty bytes remove the logo. @throws invalid_argument */
export async function setLogo(
  { db, clock }: Pick<AccountsDeps, 'db' | 'clock'>,
  by: Caller,
  organizationId: string,
  image: Uint8Array,
): Promise<void> {
  requireAtMost('logo', maxLogoBytes, image.byteLength, ' bytes');
  const mediaType = imageTypeOf(image);
  if (image.byteLength > 0 && mediaType === undefined)
    throw invalidArgument(`logo: expected a PNG or JPEG picture, found ${image.byteLength} bytes that are neither`);
  await db.transaction().execute(async (trx) => {
    await trx.deleteFrom('organization_logos').where('organization_id', '=', organizationId).execute();
    if (mediaType !== undefined)
      await trx
        .insertInto('organization_logos')
        .values({
          organization_id: organizationId,
          id: randomBytes(18).toString('base64url'),
          media_type: mediaType,
          image,
        })
        .execute();
    const detail = { bytes: image.byteLength, ...(mediaType === undefined ? {} : { media_type: mediaType }) };
    const target = ['organization', organizationId, organizationId] as const;
    await audit(trx, by, clock.now(), 'AppService.OrganizationSetLogo', target, detail);
  });
}

/** Empty if there is no logo. */
export async function logoUrl(
  { db, baseUrl }: Pick<AccountsDeps, 'db' | 'baseUrl'>,
  organizationId: string,
): Promise<string> {
  const row = await db
    .selectFrom('organization_logos')
    .select('id')
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  return row === undefined ? '' : `${baseUrl()}${logoPath}${row.id}`;
}

/** PNG or JPEG; undefined if there is no logo. */
export async function readLogo(db: AccountsDeps['db'], organizationId: string): Promise<Uint8Array | undefined> {
  const row = await db
    .selectFrom('organization_logos')
    .select('image')
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  return row?.image;
}

const signatures = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
] as const;

/** By its first bytes. Undefined for anything else: SVG and other markup could carry scripts. */
function imageTypeOf(bytes: Uint8Array): string | undefined {
  return signatures.find(([, signature]) => signature.every((byte, index) => bytes[index] === byte))?.[0];
}
