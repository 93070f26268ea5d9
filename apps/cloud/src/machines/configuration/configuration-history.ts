/** Reads the versions of a part's configuration, newest first. */
import { failedPrecondition, notFound } from '@platform/base';
import { type AliasedRawBuilder, sql } from 'kysely';
import {
  provenRows,
  requireCompleteSet,
  requireIntactSet,
  requireNewest,
  requireNoRows,
} from '../../metadata/row-checks/require-complete.ts';
import { requireRight } from '../../metadata/row-checks/require-right.ts';
import type { Database } from '../../metadata/tables.ts';
import { checkedConfigurations, type MachinesTables } from '../store.ts';
import type { ConfigurationVersion } from './configuration.ts';

export interface HistoryPage {
  /** At least 1. */
  readonly limit: number;
  /** Only versions below this one; absent: from the newest. */
  readonly before?: number | undefined;
  /** Saved at this time or later, ms. */
  readonly startMs?: number | undefined;
  /** Saved before this time, ms. */
  readonly endMs?: number | undefined;
}

export interface ConfigurationHistory {
  /** The newest version from the store; version 0 with an empty object if there is none. */
  newest(partId: string, trx?: Database): Promise<ConfigurationVersion>;
  /** @throws not_found; failed_precondition if its document is no longer kept */
  version(partId: string, version: number): Promise<ConfigurationVersion>;
  history(partId: string, page?: HistoryPage): Promise<readonly ConfigurationVersion[]>;
  /** Like `history`, but with empty documents and their sizes. */
  summaries(
    partId: string,
    page: HistoryPage,
  ): Promise<readonly { readonly version: ConfigurationVersion; readonly bytes: number }[]>;
}

/** What every part starts with. */
export const neverConfigured: ConfigurationVersion = {
  version: 0,
  document: '{}',
  author: { kind: '', id: '', name: '' },
  createdMs: 0,
  revision: '',
  restoredFrom: 0,
};

export function createHistory(db: Database): ConfigurationHistory {
  return {
    async newest(partId, trx = db) {
      const row = await trx
        .selectFrom('part_configurations')
        .selectAll()
        .select([asStored, provenVersions])
        .where('part_id', '=', partId)
        .orderBy('version', 'desc')
        .limit(1)
        .executeTakeFirst();
      await requireNewestVersions(trx, [partId], row === undefined ? [] : [row]);
      return row === undefined ? neverConfigured : versionOf(row);
    },
    async version(partId, version) {
      const row = !Number.isSafeInteger(version)
        ? undefined
        : await db
            .selectFrom('part_configurations')
            .selectAll()
            .select(asStored)
            .where('part_id', '=', partId)
            .where('version', '=', version)
            .executeTakeFirst();
      if (row === undefined) await requireIntactSet(db, checkedConfigurations, partId);
      else requireRightVersions([row]);
      if (row === undefined)
        throw notFound(
          `version: expected one of the versions of the configuration of part ${partId} (platform config history ${partId}), found ${version}`,
        );
      if (row.document === '')
        throw failedPrecondition(
          `version ${version} of the configuration of part ${partId}: expected one whose document is still stored, found one of the oldest, which was deleted to make space for newer ones; only its author and time are listed`,
        );
      return versionOf(row);
    },
    async history(partId, { limit, before, startMs, endMs } = { limit: 1_000 }) {
      let query = db.selectFrom('part_configurations').selectAll().select(asStored).where('part_id', '=', partId);
      if (before !== undefined) query = query.where('version', '<', before);
      if (startMs !== undefined) query = query.where('created_ms', '>=', startMs);
      if (endMs !== undefined) query = query.where('created_ms', '<', endMs);
      const rows = await query.orderBy('version', 'desc').limit(limit).execute();
      await requireWhole(db, partId, rows);
      return rows.map(versionOf);
    },
    async summaries(partId, { limit, before, startMs, endMs }) {
      let query = db
        .selectFrom('part_configurations')
        .select(['part_id', 'version', 'author', 'author_kind', 'author_id', 'created_ms', 'revision', 'restored_from'])
        .select(['bytes', asStored])
        .select(sql<string | null>`row_check`.as('row_check'))
        .where('part_id', '=', partId);
      if (before !== undefined) query = query.where('version', '<', before);
      if (startMs !== undefined) query = query.where('created_ms', '>=', startMs);
      if (endMs !== undefined) query = query.where('created_ms', '<', endMs);
      const rows = await query.orderBy('version', 'desc').limit(limit).execute();
      await requireWhole(db, partId, rows);
      return rows.map(({ bytes, ...row }) => ({ version: versionOf({ ...row, document: '' }), bytes }));
    },
  };
}

/** The stored form, which the checksum covers. */
const asStored = 'document as stored';

/** The number of versions by the proof, for `requireNewestVersions`. */
export const provenVersions: AliasedRawBuilder<number | null, 'proven'> = provenRows(
  checkedConfigurations,
  'part_configurations.part_id',
).as('proven');

type StoredVersion = { readonly part_id: string; readonly version: number; readonly stored: string };

/**
 * @param rows the newest version of each of the parts, unless it has none
 * @throws data_loss when one of them was altered, or is not the newest that was written
 */
export async function requireNewestVersions(
  db: Database,
  partIds: readonly string[],
  rows: readonly (StoredVersion & { readonly proven: number | null })[],
): Promise<void> {
  requireRightVersions(rows);
  for (const { part_id, version, proven } of rows)
    await requireNewest(db, checkedConfigurations, part_id, version, proven);
  const found = new Set(rows.map(({ part_id }) => part_id));
  const others = partIds.filter((partId) => !found.has(partId));
  await requireNoRows(db, checkedConfigurations, others);
}

/** @throws data_loss when one of them was altered, or a version of the part is missing */
async function requireWhole(db: Database, partId: string, rows: readonly StoredVersion[]): Promise<void> {
  requireRightVersions(rows);
  await requireCompleteSet(db, checkedConfigurations, partId);
}

function requireRightVersions(rows: readonly StoredVersion[]): void {
  requireRight(
    checkedConfigurations,
    rows.map(({ stored, ...row }) => ({ ...row, document: stored })),
  );
}

type VersionRow = Pick<
  MachinesTables['part_configurations'],
  'version' | 'document' | 'author' | 'author_kind' | 'author_id' | 'created_ms' | 'revision' | 'restored_from'
>;

function versionOf(row: VersionRow): ConfigurationVersion {
  const named = row.author.slice(`${row.author_kind} `.length);
  return {
    version: row.version,
    document: row.document,
    author: { kind: row.author_kind, id: row.author_id, name: named === row.author_id ? '' : named },
    createdMs: row.created_ms,
    revision: row.revision,
    restoredFrom: row.restored_from,
  };
}
