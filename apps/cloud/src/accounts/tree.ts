/** The account tree as it is read at every call: small, so it is read whole and kept until it changes. */
import type { Database } from '../metadata/tables.ts';
import type { AccountsTables } from './store.ts';

type Row<T extends keyof AccountsTables> = AccountsTables[T];

export interface AccountTree {
  organization(id: string): Row<'organizations'> | undefined;
  location(id: string): Row<'locations'> | undefined;
  organizations(): readonly Row<'organizations'>[];
  locationsOf(organizationId: string): readonly Row<'locations'>[];
  /** A location and all above it, nearest first. */
  ancestors(locationId: string): readonly string[];
  /** A location and all below it. */
  descendants(locationId: string): readonly string[];
  /** Reads it again; call after a change. */
  reload(): Promise<void>;
}

export async function openAccountTree(db: Database): Promise<AccountTree> {
  let organizations = new Map<string, Row<'organizations'>>();
  let locations = new Map<string, Row<'locations'>>();
  const reload = async (): Promise<void> => {
    organizations = new Map((await db.selectFrom('organizations').selectAll().execute()).map((row) => [row.id, row]));
    locations = new Map((await db.selectFrom('locations').selectAll().execute()).map((row) => [row.id, row]));
  };
  await reload();

  const ancestors = (id: string): string[] => {
    const path: string[] = [];
    for (let at = locations.get(id); at !== undefined && !path.includes(at.id); at = locations.get(at.parent_id ?? ''))
      path.push(at.id);
    return path;
  };
  return {
    organization: (id) => organizations.get(id),
    location: (id) => locations.get(id),
    organizations: () => [...organizations.values()],
    locationsOf: (organizationId) => [...locations.values()].filter((row) => row.organization_id === organizationId),
    ancestors,
    descendants: (id) => [...locations.keys()].filter((other) => ancestors(other).includes(id)),
    reload,
  };
}
