/** Finds packages of one organization: each query names the organization, so packages of others are never read. */
import { failedPrecondition, permissionDenied } from '@platform/base';
import type { PackageType } from '@platform/proto/platform/app/packages/v1/packages';
import { notVisible, type Principal } from '../access/principal.ts';
import { requireCompleteSet } from '../metadata/row-checks/require-complete.ts';
import { requireRight } from '../metadata/row-checks/require-right.ts';
import type { Database } from '../metadata/tables.ts';
import { typeName } from './package-type.ts';
import type { PackagesDeps } from './packages-deps.ts';
import { type PackageRow, packages } from './store.ts';
import { matching, newerFirst } from './versions.ts';

export interface Wanted {
  /** An exact version, `1.2`, `latest` or empty; possibly with the platform appended (`1.2.0-linux-amd64`), as machines receive it. */
  readonly version: string;
  /** Such as `linux/amd64`. Empty: any. */
  readonly platform: string;
}

/** Identifies a package or module: the id of its organization, and its name there. */
export interface PackagePlace {
  readonly organizationId: string;
  readonly name: string;
}

/** By name, newest version first. */
export async function packagesOf(
  db: Database,
  organizationId: string,
  which: { readonly name?: string | undefined; readonly type?: PackageType | undefined } = {},
): Promise<readonly PackageRow[]> {
  const { name = '', type = 0 } = which;
  const rows = await db
    .selectFrom('packages')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .$if(name !== '', (query) => query.where('name', '=', name))
    .$if(type !== 0, (query) => query.where('type', '=', type))
    .orderBy('platform')
    .execute();
  requireRight(packages, rows);
  await requireCompleteSet(db, packages, organizationId);
  return rows.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : newerFirst(a, b)));
}

/** The package of that name that matches the version and platform; undefined if none does. */
export function choose<R extends PackageRow>(rows: readonly R[], { version, platform }: Wanted): R | undefined {
  const named = rows.find((row) => row.platform !== '' && servedVersion(row) === version);
  if (named !== undefined) return named;
  // Public clients include the platform in every version that they request.
  const anywhere = rows.find((row) => row.platform === '' && `${row.version}-any` === version);
  if (anywhere !== undefined && !rows.some((row) => row.version === version)) return anywhere;
  const [operatingSystem = ''] = platform.split('/');
  const suits = (row: R): boolean =>
    platform === '' || ['', platform, `${operatingSystem}/any`, `any/${platform.split('/')[1]}`].includes(row.platform);
  const [newest] = matching(rows.filter(suits), version);
  const same = rows.filter((row) => suits(row) && row.version === newest?.version);
  return same.find((row) => row.platform === platform) ?? same.find((row) => row.platform === '') ?? same[0];
}

/** The version that machines receive: with its platform, because machines use this string alone to request and store it. */
export function servedVersion({ version, platform }: Pick<PackageRow, 'version' | 'platform'>): string {
  return platform === '' ? version : `${version}-${platform.replace('/', '-')}`;
}

export function packageId({ organization_id: organizationId, name }: Pick<PackageRow, 'organization_id' | 'name'>) {
  return `${organizationId}/${name}`;
}

/** Ids name the organization by its id or its public namespace. */
const idForms = { package: /^([^/]{1,100})\/([^/]{1,100})$/, module: /^([^:/]{1,100}):([^:/]{1,100})$/ };

type PlaceDeps = Pick<PackagesDeps, 'access' | 'organizationNamed'>;
type Named = 'package' | 'module';

/** What an id names, if the caller may read packages there. @throws not_found, as for one that does not exist */
export function placeOf(deps: PlaceDeps, principal: Principal, what: Named, id: string): PackagePlace {
  const [, owner, name] = idForms[what].exec(id) ?? [];
  const organizationId = owner === undefined ? undefined : deps.organizationNamed(owner);
  if (organizationId === undefined || !deps.access.allows(principal, 'package.read', organizationId) || !name)
    throw notVisible(what, id);
  return { organizationId, name };
}

/** @throws not_found, permission_denied */
export function ownedPlaceOf(deps: PlaceDeps, principal: Principal, what: Named, id: string): PackagePlace {
  const place = placeOf(deps, principal, what, id);
  if (deps.access.allows(principal, 'package.manage', place.organizationId)) return place;
  throw permissionDenied(`${what} ${id}: expected an owner of its organization, found another role (package.manage)`);
}

/** @throws failed_precondition if the name is used for packages of another type */
export function requireType(type: PackageType, rows: readonly PackageRow[]): void {
  const other = rows.find((row) => row.type !== type);
  if (other !== undefined)
    throw failedPrecondition(
      `info.type: expected ${typeName(other.type)}, as the other versions of package ${packageId(other)} are, found ${typeName(type)}; choose another name`,
    );
}
