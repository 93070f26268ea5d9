/** Finds organizations, locations, machines and parts by name or id. */
import { invalidArgument, notFound } from '@platform/base/refusals';
import { type Cloud, PlatformError } from '@platform/sdk/cloud';
import { nearest } from './nearest.ts';

export interface Named {
  readonly id: string;
  readonly name: string;
}

export interface FoundLocation extends Named {
  readonly parentId: string;
  readonly organizationId: string;
}

export interface FoundMachine extends Named {
  readonly locationId: string;
}

export interface FoundPart extends Named {
  readonly machineId: string;
  readonly locationId: string;
  readonly isMain: boolean;
}

export interface Finder {
  /** @param text absent: the default from flags, environment or profile, or the only one. @throws not_found, invalid_argument */
  organization(text?: string): Promise<Named>;
  locations(): Promise<readonly FoundLocation[]>;
  /** By id, name, or path such as Plant/Hall 2. */
  location(text: string): Promise<FoundLocation>;
  /** By id, name, or Location/name. */
  machine(text: string): Promise<FoundMachine>;
  /** By id, Machine/part, or the name of a machine, which means its main part. */
  part(text: string): Promise<FoundPart>;
  /** Like `part`, but within the default organization: parts of others are treated as if they did not exist. */
  ownPart(text: string): Promise<FoundPart & { readonly organizationId: string }>;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

interface FinderDeps {
  app(): Promise<Cloud['app']>;
  defaultOrganization(): Promise<string>;
}

export function createFinder({ app, defaultOrganization }: FinderDeps): Finder {
  const finder: Finder = {
    async organization(text) {
      const { organizations } = await (await app()).listOrganizations({});
      const wanted = text ?? (await defaultOrganization());
      if (wanted !== '') {
        const isId = organizations.length === 0 && uuid.test(wanted);
        return isId ? { id: wanted, name: wanted } : pick('organization', wanted, organizations);
      }
      const [only, ...others] = organizations;
      if (only !== undefined && others.length === 0) return only;
      throw invalidArgument(
        only === undefined
          ? 'organization: expected at least one that you may see, found none. Create one with: platform organizations create NAME'
          : `organization: expected --organization, because you may see several: ${listed(organizations)}`,
      );
    },
    async locations() {
      const organization = await finder.organization();
      const { locations } = await (await app()).listLocations({ organizationId: organization.id });
      return locations.map((one) => ({
        id: one.id,
        name: one.name,
        parentId: one.parentLocationId,
        organizationId: one.primaryOrgIdentity?.id ?? organization.id,
      }));
    },
    async location(text) {
      return locationOf(text, await finder.locations());
    },
    async machine(text) {
      if (uuid.test(text)) {
        const { robot } = await (await app()).getRobot({ id: text });
        return { id: text, name: robot?.name ?? '', locationId: robot?.location ?? '' };
      }
      const organization = await finder.organization();
      const { robots } = await (await app()).listRobotsForOrg({ orgId: organization.id });
      const machines = robots.map((one) => ({ id: one.id, name: one.name, locationId: one.location }));
      const slash = text.lastIndexOf('/');
      if (slash <= 0) return pick('machine', text, machines);
      const locations = await finder.locations();
      const paths = new Map(locations.map((one) => [one.id, pathOf(one, locations)]));
      const path = ({ name, locationId }: FoundMachine): string => `${paths.get(locationId) ?? locationId}/${name}`;
      // A name may contain a slash: what is one machine's name may be the path of another.
      const found = machines.filter((one) => one.name === text || path(one) === text);
      if (found.length > 0) return theOnly('machine', text, found, path);
      const location = locationOf(text.slice(0, slash), locations);
      const inside = machines.filter((one) => one.locationId === location.id);
      return pick('machine', text.slice(slash + 1), inside);
    },
    async part(text) {
      if (uuid.test(text)) {
        const found = await (await app()).getRobotPart({ id: text }).catch((caught: unknown) => {
          if (caught instanceof PlatformError && caught.code === 'not_found') return undefined;
          throw caught;
        });
        if (found?.part !== undefined) return partOf(found.part);
      }
      const partsOf = async (machine: Named): Promise<FoundPart[]> =>
        (await (await app()).getRobotParts({ robotId: machine.id })).parts.map(partOf);
      const whole = await finder.machine(text).catch((caught: unknown) => {
        const isNone = caught instanceof PlatformError && caught.code === 'not_found';
        if (isNone && uuid.test(text)) throw noPart(text);
        if (isNone && text.includes('/')) return undefined;
        throw caught;
      });
      if (whole !== undefined) {
        const parts = await partsOf(whole);
        return parts.find((one) => one.isMain) ?? pick('part', text, parts);
      }
      const slash = text.lastIndexOf('/');
      return pick('part', text.slice(slash + 1), await partsOf(await finder.machine(text.slice(0, slash))));
    },
    async ownPart(text) {
      const part = await finder.part(text);
      const { id: organizationId } = await finder.organization();
      const { location } = await (await app()).getLocation({ locationId: part.locationId });
      if (location?.primaryOrgIdentity?.id !== organizationId) throw noPart(text);
      return { ...part, organizationId };
    },
  };
  return finder;
}

function partOf(part: { id: string; name: string; robot: string; locationId: string; mainPart: boolean }): FoundPart {
  const { id, name, robot, locationId, mainPart } = part;
  return { id, name, machineId: robot, locationId, isMain: mainPart };
}

function noPart(id: string): PlatformError {
  return notFound(`part: expected the id of a part or machine that you may see, found "${id}"`);
}

/** The item with this id or name. @throws not_found with similar names, invalid_argument if several have the name */
export function pick<T extends Named>(
  what: string,
  text: string,
  all: readonly T[],
  shown: (one: T) => string = (one) => one.name,
): T {
  const byId = all.find((one) => one.id === text);
  if (byId !== undefined) return byId;
  const exact = all.filter((one) => one.name === text);
  const found = exact.length > 0 ? exact : all.filter((one) => one.name.toLowerCase() === text.toLowerCase());
  if (found.length > 0) return theOnly(what, text, found, shown);
  const near = nearest(
    text,
    all.map((one) => one.name),
  );
  const hint =
    near.length > 0
      ? `. Did you mean ${near.slice(0, 3).join(', ')}?`
      : all.length > 0
        ? `. Existing ones: ${listed(all)}`
        : '';
  throw notFound(`${what}: expected the id or name of one that you may see, found "${text}"${hint}`);
}

/** The only one of these items. @throws invalid_argument with the ids if there are several */
function theOnly<T extends Named>(what: string, text: string, found: readonly T[], shown: (one: T) => string): T {
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  const which = found.map((one) => `${shown(one)} (${one.id})`).join(', ');
  throw invalidArgument(`${what}: expected only one named "${text}", found ${found.length}: ${which}. Use the id`);
}

function locationOf(text: string, all: readonly FoundLocation[]): FoundLocation {
  const path = (one: FoundLocation): string => pathOf(one, all);
  const byPath = all.filter((one) => path(one) === text);
  return byPath.length === 1 && byPath[0] !== undefined ? byPath[0] : pick('location', text, all, path);
}

function listed(all: readonly Named[]): string {
  const names = all.slice(0, 10).map((one) => one.name);
  return names.join(', ') + (all.length > names.length ? `, … (${all.length})` : '');
}

type Placed = Pick<FoundLocation, 'id' | 'name' | 'parentId'>;

/** Such as Plant/Hall 2. */
export function pathOf(one: Placed, all: readonly Placed[]): string {
  const parent = all.find((other) => other.id === one.parentId);
  return parent === undefined ? one.name : `${pathOf(parent, all)}/${one.name}`;
}
