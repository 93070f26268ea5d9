/** The operations that repair calls in the process that has the catalog and log open; each change writes an audit entry. */
import type { Clock } from '@platform/base';
import { audit } from '../../access/audit.ts';
import { isOrganizationStored } from '../../accounts/organizations/stored-organizations.ts';
import { insertRestoredUpload } from '../../binary/uploads/insert-restored-upload.ts';
import type { IngestLog, LogLoss, LossIn } from '../../ingest/log/log.ts';
import type { VerifiedRow } from '../../ingest/losses/row-checksums.ts';
import type { RowWatch } from '../../metadata/row-checks/row-watch.ts';
import type { Database } from '../../metadata/tables.ts';
import { openUpload } from '../../reading-codec/open-upload.ts';
import { storedSealedPosition } from '../../tabular/catalog/catalog-rows.ts';
import { recentDeletes } from '../../tabular/deletion/recent-deletes.ts';
import { repairCatalog } from '../../tabular/integrity/repair-catalog.ts';
import type { SealedFile } from '../../tabular/process/messages.ts';
import type { Operations } from '../control-channel.ts';
import { recordRestored, replaceFiles, unlistFile } from './record-repair.ts';
import { decodeRow, type RowJson } from './row-json.ts';

export interface RepairOperationsDeps {
  readonly db: Database;
  readonly rows: Pick<RowWatch, 'look' | 'accept'>;
  readonly ingestLog: Pick<IngestLog, 'losses' | 'acceptLosses' | 'restoreRow' | 'endLosses' | 'read'>;
  /** Reloads everything that is not sealed from the log, and returns the sealed position. Undefined: no cloud is running. */
  readonly loadAgain: (() => Promise<number>) | undefined;
  readonly clock: Clock;
}

export function repairOperations({ db, rows, ingestLog, loadAgain, clock }: RepairOperationsDeps): Operations {
  return {
    'repair.catalog': async ({ flag, actor }) => {
      const report = await repairCatalog(db, flag('apply'));
      const { mended } = report;
      if (flag('apply') && mended.length > 0)
        await audit(db, actor, clock.now(), 'admin.repair.catalog', ['file', '', null], { mended });
      return report;
    },
    'repair.altered-rows': async ({ flag, actor }) => {
      const damages = await rows.look();
      if (!flag('accept') || damages.length === 0) return { damages };
      // The audit entry comes first, because an interrupted acceptance is repeated.
      await audit(db, actor, clock.now(), 'admin.repair.accept-rows', ['file', '', null], { damages });
      return { damages: await rows.accept() };
    },
    'repair.restored': async ({ text, actor }) => {
      await recordRestored(db, text('file'), text('from'), actor, clock.now());
      return {};
    },
    'repair.replaced': async ({ text, actor }) => {
      const replaced = JSON.parse(text('files')) as readonly string[];
      const files = JSON.parse(text('as')) as readonly SealedFile[];
      await replaceFiles(db, replaced, files, text('from'), actor, clock.now());
      return {};
    },
    'repair.unlist': async ({ text, actor }) => {
      await unlistFile(db, text('file'), actor, clock.now());
      return {};
    },
    'repair.losses': async ({ flag, actor }) => {
      const losses = ingestLog.losses().filter(({ acceptedMs }) => acceptedMs === null);
      if (!flag('accept') || losses.length === 0) return { losses };
      // The audit entry comes first, because an interrupted acceptance is repeated.
      await audit(db, actor, clock.now(), 'admin.repair.accept-loss', ['file', '', null], { losses });
      await ingestLog.acceptLosses();
      return { losses };
    },
    'repair.rows': async ({ text, flag }) => {
      const restored: number[] = [];
      for (const sent of JSON.parse(text('rows')) as readonly RowJson[]) {
        const row = decodeRow(sent);
        if ((await isOurs(db, row)) && (!flag('apply') || (await ingestLog.restoreRow(row))))
          restored.push(row.position);
      }
      return { restored };
    },
    'repair.load-again': async () => {
      if (loadAgain !== undefined) return { sealed: await loadAgain() };
      return { sealed: await storedSealedPosition(db) };
    },
    'repair.deletes': async ({ text, optionalNumber }) => {
      return { deletes: await recentDeletes(db, text('organizationId'), optionalNumber('position') ?? 0) };
    },
    'repair.rows-back': async ({ text, actor }) => {
      const positions = JSON.parse(text('positions')) as readonly number[];
      const loaded = new Set(JSON.parse(text('loaded')) as readonly number[]);
      // The audit entry comes first, because an interrupted repair is repeated.
      const detail = { from: text('from'), positions: positions.join(', ') };
      await audit(db, actor, clock.now(), 'admin.repair.restored', ['ingest log', '', null], detail);
      for (const position of positions) {
        const lostIn = openLosses(ingestLog.losses(), position);
        // This loss was found after the positions were read. The next repair restores its readings.
        if (lostIn.has('readings') && !loaded.has(position)) continue;
        if (lostIn.has('binary data')) {
          const [row] = await ingestLog.read(position - 1, { rows: 1, bytes: 1 });
          if (row?.position === position) await insertRestoredUpload(db, position, row.batch, clock.now());
        }
        await ingestLog.endLosses(position);
      }
      return {};
    },
  };
}

function openLosses(losses: readonly LogLoss[], position: number): ReadonlySet<LossIn> {
  const open = losses.filter(
    ({ acceptedMs, first, last }) => acceptedMs === null && first <= position && last >= position,
  );
  return new Set(open.map(({ lossIn }) => lossIn));
}

/** Positions are unique within an installation, including copies restored from its backups. Rows of other installations are not ours. */
async function isOurs(db: Database, { batch }: VerifiedRow): Promise<boolean> {
  let organizationId: string;
  try {
    organizationId = openUpload(batch).place?.organizationId ?? '';
  } catch {
    return false;
  }
  return isOrganizationStored(db, organizationId);
}
