/** Finds a dataset that the caller may see, by its id. */
import type { Action } from '../../access/actions.ts';
import type { Access } from '../../access/authorize.ts';
import { grantsOf, notVisible, organizationsOf, type Principal } from '../../access/principal.ts';
import { requireIntactSet } from '../../metadata/row-checks/require-complete.ts';
import type { Database } from '../../metadata/tables.ts';
import type { BinaryOperationDeps } from '../binary-deps.ts';
import { type BinaryTables, datasets } from '../store.ts';

export type Dataset = BinaryTables['datasets'];

interface Deps {
  readonly db: Database;
  readonly rows: BinaryOperationDeps['rows'];
  readonly access: Pick<Access, 'authorize' | 'allows'>;
}

/**
 * A dataset belongs to the whole organization, so a caller with a role on only a part of it sees none.
 *
 * @param action what the caller must be allowed to do on the dataset's organization
 * @throws not_found, with the same message for a missing dataset and one of another organization; permission_denied
 */
export async function requireDataset(
  deps: Deps,
  principal: Principal,
  id: string,
  action: Extract<Action, 'organization.read' | 'organization.manage'>,
): Promise<Dataset> {
  const dataset = await findDataset(deps, principal, id);
  if (dataset === undefined) throw notVisible('dataset', id);
  deps.access.authorize(principal, action, dataset.organization_id);
  return dataset;
}

/** Undefined for a dataset that does not exist or is not visible to the caller. @throws data_loss if it could be a lost one */
export async function findDataset(
  { db, rows, access }: Deps,
  principal: Principal,
  id: string,
): Promise<Dataset | undefined> {
  const dataset = await db.selectFrom('datasets').selectAll().where('id', '=', id).executeTakeFirst();
  if (dataset === undefined || !access.allows(principal, 'organization.read', dataset.organization_id)) {
    // It could be a missing or moved one of the caller's own organizations.
    for (const organizationId of organizationsOf(grantsOf(principal)))
      if (access.allows(principal, 'organization.read', organizationId))
        await requireIntactSet(db, datasets, organizationId);
    return undefined;
  }
  rows.requireRight(datasets, [dataset]);
  return dataset;
}
