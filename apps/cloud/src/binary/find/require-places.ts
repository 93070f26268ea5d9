/** Restricts a filter to places visible to the caller; nothing is found in others. To change files, the caller must own the places (R2). */
import { create } from '@bufbuild/protobuf';
import { permissionDenied } from '@platform/base';
import { type Filter, FilterSchema } from '@platform/proto/platform/app/data/v1/data';
import type { Action, TargetKind } from '../../access/actions.ts';
import { notVisible, type Principal } from '../../access/principal.ts';
import type { BinaryOperationDeps } from '../binary-deps.ts';
import { findDataset, requireDataset } from '../collections/find-dataset.ts';
import { isWithin, scopesOf } from '../scopes.ts';
import { inScopes } from './filter.ts';

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

type Deps = Pick<BinaryOperationDeps, 'db' | 'rows' | 'access'>;

/**
 * The filter without places that the caller may not see: they are treated as nonexistent and not searched.
 * @returns undefined if nothing can match
 */
export async function visibleFilter(deps: Deps, principal: Principal, filter: Filter): Promise<Filter | undefined> {
  const seen = async (kind: TargetKind, ids: readonly string[]): Promise<string[]> => {
    const found: string[] = [];
    for (const id of ids) if (await sees(deps, principal, { kind, id })) found.push(id);
    return found;
  };
  const lists = [
    [filter.organizationIds, await seen('organization', filter.organizationIds)],
    [filter.locationIds, await seen('location', filter.locationIds)],
    [named(filter.robotId), await seen('machine', named(filter.robotId))],
    [named(filter.partId), await seen('part', named(filter.partId))],
  ] as const;
  if (lists.some(([given, left]) => given.length > 0 && left.length === 0)) return undefined;
  if (filter.datasetId !== '' && (await findDataset(deps, principal, filter.datasetId)) === undefined) return undefined;
  return create(FilterSchema, { ...filter, organizationIds: lists[0][1], locationIds: lists[1][1] });
}

function named(id: string): readonly string[] {
  return id === '' ? [] : [id];
}

async function sees(deps: Deps, principal: Principal, { kind, id }: Named): Promise<boolean> {
  const { access } = deps;
  if (kind === 'organization' || access.lineageOf(kind, id) !== undefined)
    return access.allows(principal, seeing[kind], id);
  // The place was deleted, but its files may remain.
  return (await placeOfFormer(deps, principal, kind, id)) !== undefined;
}

/**
 * To change files by a filter, the caller must own the narrowest level that it names: the part, else the machine, the locations, the
 * organizations. If it names none, it applies only to files that the caller owns.
 *
 * @throws not_found for places that the caller may not see, permission_denied for visible places that the caller does not own
 */
export async function requirePlaces(deps: Deps, principal: Principal, filter: Filter): Promise<void> {
  const levels: readonly (readonly Named[])[] = [
    filter.organizationIds.map((id) => ({ kind: 'organization', id })),
    filter.locationIds.map((id) => ({ kind: 'location', id })),
    named(filter.robotId).map((id) => ({ kind: 'machine', id })),
    named(filter.partId).map((id) => ({ kind: 'part', id })),
  ];
  for (const place of levels.flat()) if (!(await sees(deps, principal, place))) throw notVisible(place.kind, place.id);
  if (filter.datasetId !== '') await requireDataset(deps, principal, filter.datasetId, 'organization.read');
  for (const place of levels.findLast((level) => level.length > 0) ?? []) await requireOwned(deps, principal, place);
}

async function requireOwned(deps: Deps, principal: Principal, { kind, id }: Named): Promise<void> {
  const { access } = deps;
  if (kind === 'organization' || access.lineageOf(kind, id) !== undefined) {
    access.authorize(principal, owning[kind], id);
    return;
  }
  const place = await placeOfFormer(deps, principal, kind, id);
  if (place === undefined) throw notVisible(kind, id);
  if (!isWithin(place, scopesOf(access, principal, 'owner')))
    throw permissionDenied(`${kind} ${id}: expected an owner of what contained it, found an insufficient role`);
}

async function placeOfFormer(
  { db, access }: Deps,
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
