/**
 * `platform admin repair`: mends what the doctor finds of stored data. Rows of the catalog come back out of their second copies, files out of
 * a backup or the ingest log, rows of the log and payloads of pictures and files out of a backup; what nobody has any more is given up only when its loss is accepted.
 *
 * It reads the files itself, in the process of the command; what it changes in the catalog it asks of the process that has it open.
 * Every step can be repeated after a kill at any instant.
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
  /** Holds the payloads of pictures and files. */
  readonly blobDirectory: string;
  readonly store: Pick<DoctorStore, 'catalog' | 'log' | 'listedPayloads'>;
  /** Asked of the process that has the catalog open. */
  readonly ask: (operation: string, params: Readonly<Record<string, unknown>>) => Promise<unknown>;
  /** A backup to take from what is damaged. */
  readonly from?: string | undefined;
  /** What cannot be restored is given up: files leave the list, and queries are answered without it. */
  readonly acceptLoss: boolean;
  /** False: says what it would do, and changes nothing. */
  readonly apply: boolean;
  readonly nowMs: number;
  readonly progress: (text: string) => void;
}

export async function repair(options: RepairOptions): Promise<Repaired[]> {
  // What is read from here on stays: rows of the log, and files.
  await options.ask('backup.hold', {});
  const backup = options.from === undefined ? undefined : openBackup(options.from);
  const inCatalog = await mendCatalog(options);
  // Before the log: what comes back into it is compared with them.
  const inFiles = await repairFiles(options, backup);
  const inLog = await repairLog(options, backup, inFiles);
  await removeEmptyQuarantine(options.parquetDir);
  const losses = await settleLosses(options, options.apply ? [] : inLog.back);
  // Behind the log, which brings pictures and files back onto their list.
  return [...inCatalog, ...inFiles, ...inLog.report, ...losses, ...(await repairPayloads(options, backup))];
}

async function mendCatalog({ ask, apply }: RepairOptions): Promise<Repaired[]> {
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

/** What the ingest log lost: nothing but a person's word ends that. */
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
