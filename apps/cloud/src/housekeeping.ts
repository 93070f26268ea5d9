/** Background work that the cloud repeats while it serves: truncating, sweeping, forgetting and persisting. */
import { type ClockAndLog, type FollowOptions, follow } from '@platform/base';
import { extendAuditChain } from './access/audit-chain.ts';
import type { KeyUse } from './access/key-use.ts';
import type { Billing } from './billing/feature.ts';
import type { Binary } from './binary/feature.ts';
import { ballastStep } from './ingest/disk/ballast.ts';
import { freeBytesOf, neededForUploads } from './ingest/disk/free-space.ts';
import { startReserveStep } from './ingest/disk/start-reserve.ts';
import type { Ingest } from './ingest/feature.ts';
import type { IngestLog } from './ingest/log/log.ts';
import type { DeletionPause } from './instance/deletion-pause.ts';
import type { MachineLogs } from './machines/logs/logs.ts';
import type { Database } from './metadata/tables.ts';
import type { Packages } from './packages/feature.ts';
import type { Tabular } from './tabular/tabular.ts';
import type { Triggers } from './triggers/feature.ts';

export interface HousekeepingDeps extends ClockAndLog {
  readonly ingest: Pick<Ingest<never>, 'truncateStep' | 'sweepBlobs' | 'expireStaged'>;
  readonly ingestLog: IngestLog;
  readonly tabular: Tabular;
  readonly triggers: Triggers;
  readonly binary: Pick<Binary, 'cursor' | 'removePayloads' | 'onDeleted'>;
  readonly billing: Pick<Billing, 'cursor'>;
  readonly packages: Pick<Packages, 'removeArchives' | 'onDeleted'>;
  readonly keyUse: KeyUse;
  readonly db: Database;
  readonly logs: MachineLogs;
  readonly deletions: DeletionPause;
  readonly directory: string;
}

/** Runs until the result is disposed; disposal waits for steps in progress. */
export function startHousekeeping(deps: HousekeepingDeps): AsyncDisposable {
  const { ingest, ingestLog, tabular, triggers, binary, billing, packages, keyUse, logs, deletions, directory } = deps;
  const { clock, log, db } = deps;
  const tasks = new AsyncDisposableStack();
  const task = (area: string, options: Omit<FollowOptions, 'clock' | 'log'>) =>
    tasks.use(follow({ ...options, clock, log: log.child(area) }));
  /** Skips a deleting step while a backup is taken (I15); the step runs again later. */
  const pausing =
    (step: FollowOptions['step']): FollowOptions['step'] =>
    async (signal) =>
      !deletions.held && (await deletions.run(() => step(signal)));

  const truncation = task('ingest', {
    name: 'truncate the log',
    idleMs: 5_000,
    step: pausing(
      ingest.truncateStep(async () =>
        Math.min(
          tabular.sealedPosition(),
          ...(await Promise.all([triggers, binary, billing].map((follower) => follower.cursor()))),
        ),
      ),
    ),
  });
  tasks.use(tabular.onSealed(() => truncation.wake()));
  task('ingest', {
    name: 'maintain the reserve for a full disk',
    step: ballastStep({
      directory,
      freeBytes: () => freeBytesOf(directory),
      neededBytes: () => neededForUploads(ingestLog.retainedBytes()),
      log: log.child('ingest'),
    }),
  });
  task('ingest', {
    name: 'maintain the reserve for the next start',
    idleMs: 5_000,
    step: startReserveStep(directory, () => freeBytesOf(directory)),
  });
  const removal = task('blobs', {
    name: 'remove deleted payloads',
    idleMs: 60_000,
    step: pausing(() => binary.removePayloads()),
  });
  binary.onDeleted(() => removal.wake());
  const archives = task('packages', {
    name: 'remove deleted archives',
    idleMs: 60_000,
    step: pausing(() => packages.removeArchives()),
  });
  packages.onDeleted(() => archives.wake());
  task('blobs', {
    name: 'sweep orphaned blobs',
    idleMs: 600_000,
    step: pausing(async () => {
      await ingest.sweepBlobs();
      await ingest.expireStaged();
      return false;
    }),
  });
  task('machines', { name: 'delete old machine logs', idleMs: 3_600_000, step: () => logs.forget() });
  task('machines', { name: 'report dropped log lines', idleMs: 10_000, step: () => logs.tellLeftOut() });
  task('access', { name: 'chain the audit trail', idleMs: 10_000, step: () => extendAuditChain(db) });
  tasks.defer(() => keyUse.write());
  task('access', {
    name: 'record the use of keys',
    idleMs: 60_000,
    async step() {
      await keyUse.write();
      return false;
    },
  });
  return tasks;
}
