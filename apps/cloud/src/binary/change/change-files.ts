/**
 * The common steps of all changes to files: find the files, check that the caller owns them, change them and write the audit entry. Each
 * thousand files is one transaction.
 */
import { chunks, permissionDenied } from '@platform/base';
import type { Filter } from '@platform/proto/platform/app/data/v1/data';
import { audit } from '../../access/audit.ts';
import type { CloudCall } from '../../access/principal.ts';
import type { Database } from '../../metadata/tables.ts';
import type { BinaryOperationDeps } from '../binary-deps.ts';
import { checkFilter, matching, requireTags } from '../find/filter.ts';
import { daysOf, type FileRow, filesNamed, type NamedFile } from '../find/find-files.ts';
import { requireFoundBy } from '../find/require-labels.ts';
import { requirePlaces } from '../find/require-places.ts';
import { walkFiles } from '../find/walk-files.ts';
import { batchRows } from '../limits.ts';
import { isWithin, organizationsIn, scopesOf } from '../scopes.ts';
import { files as checkedFiles } from '../store.ts';

export type ChangeDeps = Pick<BinaryOperationDeps, 'db' | 'rows' | 'access' | 'caughtUp' | 'clock'>;

/** Returns how many files it changed. */
export type Change = (trx: Database, files: readonly FileRow[]) => Promise<number>;

export interface ChangeKind {
  /** The operation, such as `DataService.DeleteBinaryDataByIDs`. */
  readonly action: string;
  /** For the audit trail, in addition to the ids of the files. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/**
 * Changes either all the files or none. Returns how many were changed.
 *
 * @throws not_found, permission_denied (visible but not owned)
 */
export async function changeNamed(
  { db, rows, access, caughtUp, clock }: ChangeDeps,
  call: CloudCall,
  named: readonly NamedFile[],
  kind: ChangeKind,
  change: Change,
): Promise<number> {
  await caughtUp(call.signal);
  return db.transaction().execute(async (trx) => {
    const files = await filesNamed({ db: trx, rows }, named, scopesOf(access, call.principal, 'operator'), clock.now());
    const owned = scopesOf(access, call.principal, 'owner');
    const foreign = files.find((file) => !isWithin(file, owned));
    if (foreign !== undefined)
      throw permissionDenied(
        `binary data ${foreign.id}: expected an owner of its machine, location or organization, found an insufficient role`,
      );
    const changed = await change(trx, files);
    await auditFiles(trx, call, files, kind, clock.now());
    return changed;
  });
}

/**
 * Changes the matching files that the caller owns and that were acknowledged before the call, a thousand at a time. Files changed before a
 * failure stay changed. Returns how many were changed.
 *
 * @throws not_found, permission_denied, invalid_argument; data_loss when tags or boxes of the filter were altered
 */
export async function changeMatching(
  { db, rows, access, caughtUp, clock }: ChangeDeps,
  call: CloudCall,
  filter: Filter,
  kind: ChangeKind,
  change: Change,
): Promise<number> {
  checkFilter(filter);
  requireTags(filter);
  const upTo = await caughtUp(call.signal);
  await requirePlaces({ db, rows, access }, call.principal, filter);
  const scopes = scopesOf(access, call.principal, 'owner');
  const organizationIds = organizationsIn(scopes, filter.organizationIds);
  await requireFoundBy(rows, { filter, organizationIds, days: daysOf(filter) });
  let changed = 0;
  const walk = { filter, scopes, direction: 'asc', nowMs: clock.now(), signal: call.signal } as const;
  for await (const slice of walkFiles(db, walk)) {
    const found = await db.selectFrom('binary_data').select('id').where(slice).where('position', '<=', upTo).execute();
    for (const some of chunks(found, batchRows)) {
      const ids = some.map(({ id }) => id);
      changed += await db.transaction().execute(async (trx) => {
        // Read again, because others may have changed or deleted them.
        const files = await trx
          .selectFrom('binary_data')
          .selectAll()
          .where('id', 'in', ids)
          .where((eb) => matching(eb, filter, scopes, walk.nowMs))
          .execute();
        if (files.length === 0) return 0;
        rows.requireRight(checkedFiles, files);
        const done = await change(trx, files);
        await auditFiles(trx, call, files, kind, clock.now());
        return done;
      });
    }
  }
  return changed;
}

/** Number of ids listed in one audit entry; further ids are only counted. */
const idsInEntry = 50;

/** Writes one entry for each organization. */
async function auditFiles(
  trx: Database,
  call: CloudCall,
  files: readonly FileRow[],
  { action, detail = {} }: ChangeKind,
  nowMs: number,
): Promise<void> {
  for (const [organizationId, some] of Map.groupBy(files, (file) => file.organization_id)) {
    const [first, ...others] = some.slice(0, idsInEntry).map(({ id }) => id);
    const counted = { files: some.length, ...(others.length > 0 && { others }), ...detail };
    await audit(trx, call, nowMs, action, ['binary data', first ?? '', organizationId], counted);
  }
}
