/**
 * The account tree in memory, for every call: organizations, locations and sharing.
 *
 * The store is authoritative. Changes go through `change`, one at a time: each transaction sees the tree as stored, and its changes appear
 * in memory right after its commit, or not at all if it fails.
 */
import { createLimiter } from '@platform/base';
import type { Selectable } from 'kysely';
import type { Database } from '../metadata/tables.ts';
import type { AccountsTables } from './store.ts';

export type OrganizationRow = Selectable<AccountsTables['organizations']>;
export type LocationRow = Selectable<AccountsTables['locations']>;
/** A location of `organizationId` that is shared with another organization. */
export interface Share {
  readonly organizationId: string;
  readonly locationId: string;
}

/** Collects a transaction's changes while it runs. */
export interface TreeChange {
  organization(row: OrganizationRow): void;
  /** New, renamed or moved. */
  location(row: LocationRow): void;
  share(locationId: string, organizationId: string): void;
  unshare(locationId: string, organizationId: string): void;
  removeOrganization(id: string): void;
  /** Removes a location with its shares. It must have nothing beneath it. */
  removeLocation(id: string): void;
}

export interface AccountTree {
  organization(id: string): OrganizationRow | undefined;
  location(id: string): LocationRow | undefined;
  organizationOfLocation(locationId: string): string | undefined;
  organizations(): readonly OrganizationRow[];
  /** All locations of an organization, at every depth. */
  locationsOf(organizationId: string): readonly LocationRow[];
  /** Directly beneath a location. */
  childrenOf(locationId: string): readonly LocationRow[];
  /** A location and all its ancestors, nearest first. */
  ancestors(locationId: string): readonly string[];
  /** A location and all its descendants. */
  descendants(locationId: string): readonly string[];
  /** The locations that other organizations share with this one; each includes its descendants. */
  sharesTo(organizationId: string): readonly Share[];
  /** The organizations with which this location itself is shared; some may not exist. */
  sharedWith(locationId: string): readonly string[];
  /** Runs a transaction that changes the tree, after all earlier ones; applies the changes in memory after the commit. */
  change<T>(work: (trx: Database, changed: TreeChange) => Promise<T>): Promise<T>;
}

export async function openAccountTree(db: Database): Promise<AccountTree> {
  const organizations = new Map<string, OrganizationRow>();
  const locations = new Map<string, LocationRow>();
  const byOrganization = new Map<string, Set<string>>();
  const byParent = new Map<string, Set<string>>();
  const sharedTo = new Map<string, Set<string>>();
  const sharedFrom = new Map<string, Set<string>>();

  const removeLocation = (id: string): void => {
    const row = locations.get(id);
    if (row === undefined) return;
    remove(byOrganization, row.organization_id, id);
    if (row.parent_id !== null) remove(byParent, row.parent_id, id);
    locations.delete(id);
  };
  const unshare = (locationId: string, organizationId: string): void => {
    remove(sharedTo, organizationId, locationId);
    remove(sharedFrom, locationId, organizationId);
  };
  const apply: TreeChange = {
    organization: (row) => void organizations.set(row.id, row),
    location(row) {
      removeLocation(row.id);
      locations.set(row.id, row);
      add(byOrganization, row.organization_id, row.id);
      if (row.parent_id !== null) add(byParent, row.parent_id, row.id);
    },
    share(locationId, organizationId) {
      add(sharedTo, organizationId, locationId);
      add(sharedFrom, locationId, organizationId);
    },
    unshare,
    removeOrganization: (id) => void organizations.delete(id),
    removeLocation(id) {
      for (const organizationId of sharedFrom.get(id) ?? []) unshare(id, organizationId);
      removeLocation(id);
    },
  };

  for (const row of await db.selectFrom('organizations').selectAll().execute()) apply.organization(row);
  for (const row of await db.selectFrom('locations').selectAll().execute()) apply.location(row);
  for (const row of await db.selectFrom('location_shares').selectAll().execute())
    apply.share(row.location_id, row.organization_id);

  const oneAtATime = createLimiter(1);
  const rowsOf = (ids: Iterable<string> | undefined): LocationRow[] =>
    [...(ids ?? [])].flatMap((id) => locations.get(id) ?? []);
  return {
    organization: (id) => organizations.get(id),
    location: (id) => locations.get(id),
    organizationOfLocation: (id) => locations.get(id)?.organization_id,
    organizations: () => [...organizations.values()],
    locationsOf: (organizationId) => rowsOf(byOrganization.get(organizationId)),
    childrenOf: (locationId) => rowsOf(byParent.get(locationId)),
    ancestors(locationId) {
      const path: string[] = [];
      for (let at = locations.get(locationId); at !== undefined; at = locations.get(at.parent_id ?? ''))
        path.push(at.id);
      return path;
    },
    descendants(locationId) {
      const found = locations.has(locationId) ? [locationId] : [];
      // The list grows while it is walked.
      for (const id of found) found.push(...(byParent.get(id) ?? []));
      return found;
    },
    sharesTo: (organizationId) =>
      rowsOf(sharedTo.get(organizationId)).map((row) => ({ organizationId: row.organization_id, locationId: row.id })),
    sharedWith: (locationId) => [...(sharedFrom.get(locationId) ?? [])],
    change: (work) =>
      oneAtATime(async () => {
        const changes: (() => void)[] = [];
        const changed: TreeChange = {
          organization: (row) => void changes.push(() => apply.organization(row)),
          location: (row) => void changes.push(() => apply.location(row)),
          share: (...of) => void changes.push(() => apply.share(...of)),
          unshare: (...of) => void changes.push(() => apply.unshare(...of)),
          removeOrganization: (id) => void changes.push(() => apply.removeOrganization(id)),
          removeLocation: (id) => void changes.push(() => apply.removeLocation(id)),
        };
        const result = await db.transaction().execute((trx) => work(trx, changed));
        for (const change of changes) change();
        return result;
      }),
  };
}

function add(index: Map<string, Set<string>>, key: string, value: string): void {
  const set = index.get(key);
  if (set === undefined) index.set(key, new Set([value]));
  else set.add(value);
}

function remove(index: Map<string, Set<string>>, key: string, value: string): void {
  const set = index.get(key);
  set?.delete(value);
  if (set?.size === 0) index.delete(key);
}
