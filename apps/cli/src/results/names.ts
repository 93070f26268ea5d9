/** Finds the names of objects that results refer to by id, as far as the caller may see them. */
import { type Cloud, type JsonObject, PlatformError } from '@platform/sdk/cloud';
import type { Context } from '../invocation/context.ts';
import { pathOf } from '../invocation/find.ts';
import { actorName } from './presenters.ts';

type Asking = Pick<Context, 'cloud' | 'find'>;
type Named = readonly [id: string, name: string | undefined];
type Source = (cloud: Cloud, organizationId: string) => Promise<Named[]>;

/** How the names of each kind in an organization are read. */
const sources: ReadonlyMap<string, Source> = new Map(
  Object.entries<Source>({
    /** All items that the caller may see. */
    organization: async ({ app }) => (await app.listOrganizations({})).organizations.map(({ id, name }) => [id, name]),
    /** As paths. */
    location: async ({ app }, organizationId) => {
      const { locations } = await app.listLocations({ organizationId });
      const all = locations.map(({ id, name, parentLocationId: parentId }) => ({ id, name, parentId }));
      return all.map((one) => [one.id, pathOf(one, all)]);
    },
    machine: async ({ app }, orgId) => (await app.listRobotsForOrg({ orgId })).robots.map(({ id, name }) => [id, name]),
    /** As Machine/part. */
    part: async ({ app }, organizationId) => {
      const { locationSummaries } = await app.listMachineSummaries({ organizationId });
      const machines = locationSummaries.flatMap(({ machineSummaries }) => machineSummaries);
      return machines.flatMap(({ machineName, partSummaries }) =>
        partSummaries.map(({ partId, partName }): Named => [partId, `${machineName}/${partName}`]),
      );
    },
    key: async ({ fleet }, organizationId) =>
      (await fleet.listKeyDetails({ organizationId })).keys.map(({ id, name }) => [id, name]),
    person: async ({ app }, organizationId) =>
      (await app.listOrganizationMembers({ organizationId })).members.map(({ userId, emails }) => [
        userId,
        actorName('person', emails[0] ?? '', userId),
      ]),
    fragment: async ({ app }, organizationId) =>
      (await app.listFragments({ organizationId, showPublic: true })).fragments.map(({ id, name }) => [id, name]),
    saved_query: async ({ data }, organizationId) =>
      (await data.listSavedQueries({ organizationId })).queries.map(({ id, name }) => [id, name]),
    dataset: async ({ datasets }, organizationId) =>
      (await datasets.listDatasetsByOrganizationID({ organizationId })).datasets.map(({ id, name }) => [id, name]),
  }),
);

/**
 * Names by id.
 * @param kinds duplicates, and kinds that have no names, are ignored. @param organizationId default: the selected one
 */
export async function namesOf(
  { cloud, find }: Asking,
  kinds: readonly string[],
  organizationId?: string,
): Promise<ReadonlyMap<string, string>> {
  const known = [...new Set(kinds)].flatMap((kind) => sources.get(kind) ?? []);
  if (known.length === 0) return new Map();
  const [open, id] = [await cloud(), organizationId ?? (await find.organization()).id];
  const found = await Promise.all(known.map((read) => read(open, id).catch(noneIfHidden)));
  return new Map(found.flat().flatMap(([of, name]): [string, string][] => (name ? [[of, name]] : [])));
}

/** The result stays useful without names. */
function noneIfHidden(caught: unknown): Named[] {
  if (caught instanceof PlatformError && ['permission_denied', 'not_found'].includes(caught.code)) return [];
  throw caught;
}

/** The same results with the field `organization`, the name for `organization_id`; null if the caller may not see it. */
export async function withOrganizations(context: Asking, rows: readonly JsonObject[]): Promise<JsonObject[]> {
  const names = await namesOf(context, ['organization'], '');
  return rows.map((row) => ({ ...row, organization: names.get(String(row['organization_id'])) ?? null }));
}
