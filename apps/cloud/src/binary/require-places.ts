/** What a filter names must be seen by the caller, and owned where files are changed (R2). */
import { PlatformError } from '@platform/base';
import type { Filter } from '@platform/proto/platform/app/data/v1/data';
import type { Action, TargetKind } from '../access/actions.ts';
import { notVisible, type Principal, type Role } from '../access/principal.ts';
import type { BinaryDeps } from './binary-deps.ts';
import { inScopes } from './filter.ts';
import { requireDataset } from './find-dataset.ts';
import { isWithin, scopesOf } from './scopes.ts';

interface Named {
  readonly kind: TargetKind;
  readonly id: string;
}

const seeing: Readonly<Record<TargetKind, Action>> = {
  organization: 'organization.see',
  location: 'location.see',
  machine: 'machine.read',
  part: 'part.read',
};
const owning: Readonly<Record<TargetKind, Action>> = {
  organization: 'organization.manage',
  location: 'location.manage',
  machine: 'machine.manage',
  part: 'part.manage',
};

/**
 * To change files by a filter, the caller owns the narrowest that it names: the part, else the machine, the locations, the
 * organizations. Where it names none, only files that the caller owns are meant.
 *
 * @throws not_found for what the caller may not see, permission_denied for what she sees and does not own
 */
export async function requirePlaces(
  deps: Pick<BinaryDeps, 'db' | 'access'>,
  principal: Principal,
  filter: Filter,
  role: Role,
): Promise<void> {
  const levels: readonly (readonly Named[])[] = [
    filter.organizationIds.map((id) => ({ kind: 'organization', id })),
    filter.locationIds.map((id) => ({ kind: 'location', id })),
    filter.robotId === '' ? [] : [{ kind: 'machine', id: filter.robotId }],
    filter.partId === '' ? [] : [{ kind: 'part', id: filter.partId }],
  ];
  for (const named of levels.flat()) await requirePlace(deps, principal, named, 'operator');
  if (filter.datasetId !== '') await requireDataset(deps, principal, filter.datasetId, 'organization.read');
  if (role !== 'owner') return;
  for (const named of levels.findLast((level) => level.length > 0) ?? [])
    await requirePlace(deps, principal, named, 'owner');
}

async function requirePlace(
  deps: Pick<BinaryDeps, 'db' | 'access'>,
  principal: Principal,
  { kind, id }: Named,
  role: Role,
): Promise<void> {
  const { access } = deps;
  if (kind === 'organization' || access.lineageOf(kind, id) !== undefined) {
    access.authorize(principal, (role === 'owner' ? owning : seeing)[kind], id);
    return;
  }
  // It is gone, and its files may have stayed.
  const place = await placeOfFormer(deps, principal, kind, id);
  if (place === undefined) throw notVisible(kind, id);
  if (role === 'owner' && !isWithin(place, scopesOf(access, principal, 'owner')))
    throw new PlatformError(
      'permission_denied',
      `${kind} ${id}: expected an owner of what it lay in, found a role that is not enough`,
    );
}

async function placeOfFormer(
  { db, access }: Pick<BinaryDeps, 'db' | 'access'>,
  principal: Principal,
  kind: Exclude<TargetKind, 'organization'>,
  id: string,
): Promise<{ organization_id: string; location_id: string; robot_id: string } | undefined> {
  const column = { location: 'location_id', machine: 'robot_id', part: 'part_id' } as const;
  const scopes = scopesOf(access, principal, 'operator');
  return db
    .selectFrom('binary_data')
    .select(['organization_id', 'location_id', 'robot_id'])
    .where(inScopes(scopes))
    .where(column[kind], '=', id)
    .limit(1)
    .executeTakeFirst();
}
