/** Counts the users of fragments, by querying the index. */
import type { Principal } from '../access/principal.ts';
import { partPlaces } from '../machines/part-places.ts';
import type { Database } from '../metadata/tables.ts';
import { isOfOrganization, ownsOrganization } from './rights.ts';
import type { FragmentRow } from './source.ts';

export interface Usage {
  readonly organizations: number;
  readonly machines: number;
  readonly parts: number;
  readonly machinesInCurrent: number;
  readonly onlyByOwner: boolean;
}

export interface UsageRow {
  readonly fragmentId: string;
  /** The requested version; '' is the newest. */
  readonly version: string;
  readonly organizationId: string;
  readonly machines: number;
  readonly parts: number;
}

/** Returns one row for each fragment and organization, and with `byVersion` for each requested version. */
export async function readUsage(
  db: Database,
  fragmentIds: readonly string[],
  byVersion = false,
): Promise<readonly UsageRow[]> {
  if (fragmentIds.length === 0) return [];
  const base = db
    .selectFrom('part_fragments')
    .innerJoin(partPlaces(db).as('place'), 'place.part_id', 'part_fragments.part_id')
    .where('part_fragments.revision', '>', 0)
    .where('part_fragments.fragment_id', 'in', fragmentIds)
    .select((each) => [
      'part_fragments.fragment_id',
      'place.organization_id',
      each.fn.count<number>('place.machine_id').distinct().as('machines'),
      each.fn.count<number>('place.part_id').distinct().as('parts'),
    ])
    .groupBy(['part_fragments.fragment_id', 'place.organization_id']);
  const rows = byVersion
    ? await base.select('part_fragments.version').groupBy('part_fragments.version').execute()
    : (await base.execute()).map((row) => ({ ...row, version: '' }));
  return rows.map((row) => ({
    fragmentId: row.fragment_id,
    version: row.version,
    organizationId: row.organization_id,
    machines: Number(row.machines),
    parts: Number(row.parts),
  }));
}

/**
 * The usage that the caller may know: all of it for owners of the fragment's organization, otherwise that of the caller's own
 * organizations.
 */
export function usageFor(
  principal: Principal,
  fragment: FragmentRow,
  rows: readonly UsageRow[],
  currentOrganizationId: string,
): Usage {
  const all = ownsOrganization(principal, fragment.organization_id);
  const seen = rows.filter((row) => all || isOfOrganization(principal, row.organizationId));
  const sum = (pick: (row: UsageRow) => number): number => seen.reduce((total, row) => total + pick(row), 0);
  return {
    organizations: new Set(seen.map((row) => row.organizationId)).size,
    machines: sum((row) => row.machines),
    parts: sum((row) => row.parts),
    machinesInCurrent: sum((row) => (row.organizationId === currentOrganizationId ? row.machines : 0)),
    onlyByOwner: seen.every((row) => row.organizationId === fragment.organization_id),
  };
}
