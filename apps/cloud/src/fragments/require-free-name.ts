/** D36: fragments of one organization have different names, because people and commands address them by name. */
import { alreadyExists } from '@platform/base';
import type { DatabaseTransaction } from '../metadata/tables.ts';
import { isSameName } from '../text-rules/same-name.ts';

/**
 * Fragments that already share a name keep it. Only for callers who see all fragments of the organization.
 * @param id of the fragment that is renamed; absent: a new one. @throws already_exists
 */
export async function requireFreeName(
  trx: Pick<DatabaseTransaction, 'selectFrom'>,
  { organizationId, name, id }: { readonly organizationId: string; readonly name: string; readonly id?: string },
): Promise<void> {
  const all = await trx
    .selectFrom('fragments')
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .execute();
  const other = all.find((one) => one.id !== id && isSameName(one.name, name));
  if (other !== undefined)
    throw alreadyExists(
      `name: expected one that no other fragment of the organization has, found ${JSON.stringify(name)}, the name of fragment ${other.id}`,
    );
}
