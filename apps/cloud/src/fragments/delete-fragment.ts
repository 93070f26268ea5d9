/** Deletes an unused fragment. If it is in use, the error names its users, as far as the caller may know them. */
import { failedPrecondition } from '@platform/base';
import { audit, type Caller } from '../access/audit.ts';
import type { Access } from '../access/authorize.ts';
import { storedOrganizations } from '../accounts/organizations/stored-organizations.ts';
import { partPlaces } from '../machines/part-places.ts';
import type { Database, DatabaseTransaction } from '../metadata/tables.ts';
import { rightsOfCaller } from './rights.ts';
import type { FragmentRow } from './source.ts';
import { readUsage } from './usage.ts';

const shownNames = 10;

/** @throws failed_precondition */
export async function deleteFragment(
  trx: DatabaseTransaction,
  by: Caller,
  row: FragmentRow,
  access: Access,
  nowMs: number,
): Promise<void> {
  const uses = [
    ...(await partUses(trx, by, row, access)),
    ...(await fragmentUses(trx, by, row)),
    ...(await defaultUses(trx, row)),
  ];
  if (uses.length > 0)
    throw failedPrecondition(
      `fragment ${row.id}: expected an unused fragment, found ${uses.join('; ')}. Remove it there first`,
    );
  await removeFragments(trx, [row.id]);
  const detail = { name: row.name };
  await audit(trx, by, nowMs, 'AppService.DeleteFragment', ['fragment', row.id, row.organization_id], detail);
}

export async function removeFragments(trx: Database, ids: readonly string[]): Promise<void> {
  await trx.deleteFrom('fragment_tags').where('fragment_id', 'in', ids).execute();
  await trx.deleteFrom('fragment_imports').where('fragment_id', 'in', ids).execute();
  await trx.deleteFrom('fragment_revisions').where('fragment_id', 'in', ids).execute();
  await trx.deleteFrom('fragments').where('id', 'in', ids).execute();
}

/** "machines a, b and 3 more": the names that the caller may see, and the number of other users. */
function named(what: string, names: readonly string[], others: number): string[] {
  const more = others + Math.max(0, names.length - shownNames);
  const shown = names.slice(0, shownNames).join(', ');
  if (names.length + others === 0) return [];
  if (names.length === 0) return [`${others} ${what}${others === 1 ? '' : 's'} that you may not see`];
  return [`${what}${names.length === 1 && more === 0 ? '' : 's'} ${shown}${more === 0 ? '' : ` and ${more} more`}`];
}

async function partUses(trx: DatabaseTransaction, by: Caller, row: FragmentRow, access: Access): Promise<string[]> {
  const parts = await trx
    .selectFrom('part_fragments')
    .innerJoin(partPlaces(trx).as('place'), 'place.part_id', 'part_fragments.part_id')
    .select(['place.machine_id as id', 'place.machine_name as name'])
    .where('part_fragments.fragment_id', '=', row.id)
    .where('part_fragments.revision', '>', 0)
    .distinct()
    .orderBy('place.machine_name')
    .execute();
  const seen = parts.filter(({ id }) => access.allows(by.principal, 'machine.read', id));
  return named(
    'machine',
    seen.map(({ id, name }) => `"${name}" (${id})`),
    parts.length - seen.length,
  );
}

/** Other fragments whose newest or tagged revisions import this one. */
async function fragmentUses(trx: DatabaseTransaction, by: Caller, row: FragmentRow): Promise<string[]> {
  const importing = await trx
    .selectFrom('fragment_imports')
    .innerJoin('fragments', 'fragments.id', 'fragment_imports.fragment_id')
    .leftJoin('fragment_tags', (join) =>
      join
        .onRef('fragment_tags.fragment_id', '=', 'fragment_imports.fragment_id')
        .onRef('fragment_tags.revision', '=', 'fragment_imports.revision'),
    )
    .selectAll('fragments')
    .where('fragment_imports.child_id', '=', row.id)
    .where((each) =>
      each.or([
        each('fragment_imports.revision', '=', each.ref('fragments.revision')),
        each('fragment_tags.tag', 'is not', null),
      ]),
    )
    .distinct()
    .execute();
  const rights = rightsOfCaller(by.principal);
  const seen = importing.filter((other) => rights(other) !== 'none');
  return named(
    'fragment',
    seen.map(({ id, name }) => `"${name}" (${id})`),
    importing.length - seen.length,
  );
}

/** Organizations whose new machines start with this fragment. */
async function defaultUses(trx: DatabaseTransaction, row: FragmentRow): Promise<string[]> {
  const using = (await storedOrganizations(trx)).filter(
    ({ default_fragments: list }) => list?.includes(row.id) === true,
  );
  const own = using.some(({ id }) => id === row.organization_id);
  const others = using.length - (own ? 1 : 0);
  return [
    ...(own ? ['the default fragments of its organization'] : []),
    ...(others === 0 ? [] : [`the default fragments of ${others} other organization${others === 1 ? '' : 's'}`]),
  ];
}

/** Deletes the fragments of a deleted organization, unless machines of others use them. @throws failed_precondition */
export async function organizationDeleting(trx: Database, organizationId: string): Promise<void> {
  const rows = await trx.selectFrom('fragments').select('id').where('organization_id', '=', organizationId).execute();
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return;
  const usage = (await readUsage(trx, ids)).filter((row) => row.organizationId !== organizationId);
  const machines = usage.reduce((sum, row) => sum + row.machines, 0);
  if (machines > 0)
    throw failedPrecondition(
      `organization ${organizationId}: expected fragments that no other organization uses, found ${new Set(usage.map((row) => row.fragmentId)).size} in use by ${machines} machines of others`,
    );
  await removeFragments(trx, ids);
}
