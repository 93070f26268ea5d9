/**
 * Modules of an organization: the details that their uploaders set. The versions of a module are packages.
 *
 * A module exists once it was created or a version of it was uploaded. Its details are deleted with its last version.
 */
import { type MessageShape, toJsonString } from '@bufbuild/protobuf';
import { alreadyExists, invalidArgument, notFound, resourceExhausted } from '@platform/base';
import { PackageType } from '@platform/proto/platform/app/packages/v1/packages';
import { UpdateModuleRequestSchema } from '@platform/proto/platform/app/v1/app';
import { audit, type Caller } from '../../access/audit.ts';
import { requireCompleteSet } from '../../metadata/row-checks/require-complete.ts';
import { requireRight } from '../../metadata/row-checks/require-right.ts';
import type { Database } from '../../metadata/tables.ts';
import { requireName } from '../check-info.ts';
import { type PackagePlace, packagesOf, requireType } from '../find-packages.ts';
import { maxModuleBytes, maxModulesOfOrganization } from '../limits.ts';
import type { PackagesDeps } from '../packages-deps.ts';
import { type ModuleRow, modules, type PackageRow } from '../store.ts';

type Deps = Pick<PackagesDeps, 'db' | 'clock'>;

export interface StoredModule extends PackagePlace {
  /** Undefined: it has no details. */
  readonly row: ModuleRow | undefined;
  /** Oldest first. */
  readonly versions: readonly PackageRow[];
}

/** By name. */
export async function modulesOf(db: Database, organizationId: string, name?: string): Promise<readonly StoredModule[]> {
  const packages = await packagesOf(db, organizationId, { name, type: PackageType.MODULE });
  const rows = await db
    .selectFrom('modules')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .$if(name !== undefined, (query) => query.where('name', '=', name ?? ''))
    .execute();
  requireRight(modules, rows);
  await requireCompleteSet(db, modules, organizationId);
  const versions = Map.groupBy(packages, (one) => one.name);
  const names = new Set([...versions.keys(), ...rows.map((row) => row.name)]);
  return [...names].toSorted().map((each) => ({
    ...{ organizationId, name: each },
    row: rows.find((row) => row.name === each),
    versions: (versions.get(each) ?? []).toReversed(),
  }));
}

/** @throws already_exists, failed_precondition, invalid_argument, resource_exhausted */
export async function createModule({ db, clock }: Deps, by: Caller, place: PackagePlace): Promise<void> {
  const { organizationId, name } = place;
  requireName(name);
  await db.transaction().execute(async (trx) => {
    requireType(PackageType.MODULE, await packagesOf(trx, organizationId, { name }));
    const all = await modulesOf(trx, organizationId);
    if (all.some((one) => one.name === name))
      throw alreadyExists(
        `module: expected a name that no module of organization ${organizationId} has, found "${name}"`,
      );
    if (all.length >= maxModulesOfOrganization)
      throw resourceExhausted(
        `organization ${organizationId}: expected fewer than ${maxModulesOfOrganization} modules, found ${all.length}; delete the versions of modules that no machine uses`,
      );
    const row = { organization_id: organizationId, name, created_ms: clock.now(), details: '{}' };
    await trx.insertInto('modules').values(row).execute();
    await audit(trx, by, row.created_ms, 'AppService.CreateModule', targetOf(place));
  });
}

/** Replaces the details of the module. @throws not_found, invalid_argument */
export async function updateModule(
  { db, clock }: Deps,
  by: Caller,
  place: PackagePlace,
  request: MessageShape<typeof UpdateModuleRequestSchema>,
): Promise<void> {
  const { organizationId, name } = place;
  const details = toJsonString(UpdateModuleRequestSchema, request);
  const bytes = Buffer.byteLength(details);
  if (bytes > maxModuleBytes)
    throw invalidArgument(
      `module "${name}": expected models, description and documentation of at most ${maxModuleBytes} bytes as JSON, found ${bytes}`,
    );
  await db.transaction().execute(async (trx) => {
    if ((await modulesOf(trx, organizationId, name)).length === 0)
      throw notFound(
        `module: expected one of organization ${organizationId}, found no "${name.slice(0, 100)}"; create it first (CreateModule)`,
      );
    const row = { organization_id: organizationId, name, created_ms: clock.now(), details };
    await trx
      .insertInto('modules')
      .values(row)
      .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doUpdateSet({ details }))
      .execute();
    await audit(trx, by, row.created_ms, 'AppService.UpdateModule', targetOf(place));
  });
}

function targetOf({ organizationId, name }: PackagePlace): [string, string, string] {
  return ['module', `${organizationId}:${name}`, organizationId];
}
