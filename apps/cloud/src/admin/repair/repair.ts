/**
 * `platform admin repair`: repairs damage that the doctor finds in stored data. Catalog rows are restored from their second copies,
 * files from a backup or the ingest log, and log rows and payloads from a backup. Data that has no other copy is given up only when its
 * loss is accepted.
 *
 * It reads the files in the process of the command, and asks the process that has the catalog open to change it. Every step can be
 * repeated after a kill at any instant.
 */
import type { Repaired } from '@platform/base';
import type { LogLoss } from '../../ingest/log/log.ts';
import type { RepairedCatalog } from '../../tabular/integrity/repair-catalog.ts';
import type { DoctorStore } from '../doctor/doctor-store.ts';
import { openBackup } from './open-backup.ts';
import { removeEmptyQuarantine, repairFiles } from './repair-files.ts';
import { nameOfPositions, type Positions, repairLog } from './repair-log.ts';
import { repairPayloads } from './repair-payloads.ts';

export interface RepairOptions {
  readonly parquetDir: string;
  /** Contains the payloads of images and files. */
  readonly blobDirectory: string;
  readonly store: Pick<DoctorStore, 'catalog' | 'log' | 'listedPayloads'>;
  /** Calls an operation in the process that has the catalog open. */
  readonly ask: (operation: string, params: Readonly<Record<string, unknown>>) => Promise<unknown>;
  /** The backup to restore from. */
  readonly from?: string | undefined;
  /** Gives up what cannot be restored: files are removed from the list, and queries are answered without them. */
  readonly acceptLoss: boolean;
  /** False: reports what it would do, and changes nothing. */
  readonly apply: boolean;
  readonly nowMs: number;
  readonly progress: (text: string) => void;
}

export async function repair(options: RepairOptions): Promise<Repaired[]> {
  // From here on, rows of the log and files are not deleted.
  await options.ask('backup.hold', {});
  const backup = options.from === undefined ? undefined : await openBackup(options.from);
  const inCatalog = await mendCatalog(options);
  // Before the log: rows restored into it are compared with the files.
  const inFiles = await repairFiles(options, backup);
  const inLog = await repairLog(options, backup, inFiles);
  await removeEmptyQuarantine(options.parquetDir);
  const rows = await settleRows(options);
  const losses = await settleLosses(options, options.apply ? [] : inLog.back);
  // After the log, which adds images and files to the list again.
  return [...inCatalog, ...inFiles, ...inLog.report, ...losses, ...rows, ...(await repairPayloads(options, backup))];
}

/** Rows of the catalog are mended from their second copies. */
export async function mendCatalog({ ask, apply }: Pick<RepairOptions, 'ask' | 'apply'>): Promise<Repaired[]> {
  const { mended, left } = (await ask('repair.catalog', { apply })) as RepairedCatalog;
  return [
    ...mended.map(
      (damage): Repaired => ({
        what: 'catalog',
        damage,
        outcome: apply ? 'restored' : 'can be restored',
        detail: 'from the second copy of the row',
      }),
    ),
    ...left.map(
      ({ text }): Repaired => ({
        what: 'catalog',
        damage: text,
        outcome: 'not mended',
        detail: 'both the row and its copy are damaged: restore a backup into a new directory',
      }),
    ),
  ];
}

/** Rows that something else altered stay refused until a person accepts them as they are. */
async function settleRows({ ask, acceptLoss, apply }: RepairOptions): Promise<Repaired[]> {
  const accept = acceptLoss && apply;
  const { damages } = (await ask('repair.altered-rows', { accept })) as { damages: readonly string[] };
  return damages.map(
    (damage): Repaired => ({
      what: 'rows of the metadata',
      damage,
      ...(acceptLoss
        ? { outcome: apply ? 'loss accepted' : 'would be given up', detail: 'the rows are taken as they are' }
        : { outcome: 'lost', detail: 'restore a backup into a new directory, or see --accept-loss' }),
    }),
  );
}

/** Losses of the ingest log end only when a person accepts them. */
async function settleLosses(
  { ask, acceptLoss, apply }: RepairOptions,
  back: readonly Positions[],
): Promise<Repaired[]> {
  const { losses } = (await ask('repair.losses', { accept: acceptLoss && apply })) as { losses: readonly LogLoss[] };
  const left = losses.filter((loss) => !back.some(({ first, last }) => first <= loss.first && loss.last <= last));
  return left.map(
    ({ lossIn, first, last, parts, reason }): Repaired => ({
      what: nameOfPositions({ first, last }),
      damage: `${reason} (${lossIn}${parts === null ? '' : `; part ${parts.join(', ')}`})`,
      ...(acceptLoss
        ? {
            outcome: apply ? 'loss accepted' : 'would be given up',
            detail: `queries ${apply ? 'are' : 'would be'} answered without it`,
          }
        : {
            outcome: 'lost',
            detail: 'see --from, restore a backup into a new directory, or see --accept-loss',
          }),
    }),
  );
}
