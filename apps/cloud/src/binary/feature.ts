/**
 * Binary data: pictures and files that machines and clients uploaded, found, tagged, gathered in datasets, downloaded and
 * deleted. What is known of them comes from the ingest log by a follower; their bytes lie in the blob store.
 */
import type { Clock, Log } from '@platform/base';
import type { DataService } from '@platform/proto/platform/app/data/v1/data';
import type { DatasetService } from '@platform/proto/platform/app/dataset/v1/dataset';
import type { Handlers } from '@platform/rpc/server';
import type { Principal } from '../access/principal.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { IngestLog } from '../ingest/log.ts';
import type { BinaryDeps } from './binary-deps.ts';
import { changeHandlers } from './change-rpc.ts';
import { datasetHandlers, memberHandlers } from './dataset-rpc.ts';
import { removePayloads } from './delete-files.ts';
import { type DownloadDeps, type DownloadRoute, downloadRoute } from './download-route.ts';
import { findHandlers } from './find-rpc.ts';
import { LogSteps, readCursor } from './follow-log.ts';
import { KeepUp } from './keep-up.ts';
import { linkHandlers } from './link-rpc.ts';
import { createOpenFile, type DamagedFiles } from './open-file.ts';
import { sequenceHandlers } from './sequence-rpc.ts';

export interface BinaryOptions
  extends Omit<BinaryDeps, 'caughtUp' | 'blobs'>,
    Pick<DownloadDeps, 'standing' | 'principalOf'> {
  readonly ingestLog: Pick<
    IngestLog,
    'read' | 'follow' | 'lastPosition' | 'onCommit' | 'markDamaged' | 'noteLoss' | 'losses' | 'forgetBlobs'
  >;
  readonly blobs: Pick<BlobStore, 'get' | 'remove'>;
  /** Undefined: not known, as of a part that was deleted. */
  readonly organizationOf: (partId: string) => string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Binary extends AsyncDisposable {
  /** Other features serve the rest of DataService beside these. */
  readonly handlers: Handlers<typeof DataService, Principal>;
  readonly datasetHandlers: Handlers<typeof DatasetService, Principal>;
  readonly download: DownloadRoute;
  start(): Promise<void>;
  /** All rows of the log up to here are entered, durably: it may be truncated up to here (I12). */
  cursor(): Promise<number>;
  lag(): { readonly rows: number; readonly failures: number };
  /** Ids of files whose payload is damaged or missing, as far as somebody asked for them since the start. */
  damagedFiles(): DamagedFiles;
  /** Resolves once everything acknowledged before the call can be found: its position. @throws unavailable */
  caughtUp(signal: AbortSignal): Promise<number>;
  /** Whether the file of an upload of this position was deleted since: it was found once, and is not any more (D13). */
  isDeleted(fileId: string, position: number): Promise<boolean>;
  /** Takes away payloads whose rows are gone; true when there may be more. Not while a backup is taken (I15). */
  removePayloads(): Promise<boolean>;
  /** Called after a deletion: `removePayloads` has work. */
  onDeleted(listener: () => void): void;
}

export function createBinary(options: BinaryOptions): Binary {
  const { db, ingestLog, blobs, clock, log } = options;
  const steps = new LogSteps({ db, ingestLog, clock, log });
  const keepUp = new KeepUp({ steps, ingestLog, clock, log });
  const listeners: (() => void)[] = [];
  const caughtUp = (signal: AbortSignal): Promise<number> => keepUp.caughtUp(signal);
  const { openFile, damaged } = createOpenFile(options);
  const deps = { ...options, caughtUp, openFile, losses: () => ingestLog.losses() };
  const deleted = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    handlers: {
      ...findHandlers(deps),
      ...changeHandlers({ ...deps, deleted }),
      ...memberHandlers(deps),
      ...linkHandlers(deps),
      ...sequenceHandlers(deps),
    },
    datasetHandlers: datasetHandlers(deps),
    download: downloadRoute(deps),
    start: () => keepUp.start(),
    cursor: () => readCursor(db),
    lag: () => keepUp.lag(),
    damagedFiles: () => damaged,
    caughtUp,
    async isDeleted(fileId, position) {
      if (steps.position() < position) return false;
      return (
        (await db.selectFrom('binary_data').select('id').where('id', '=', fileId).executeTakeFirst()) === undefined
      );
    },
    removePayloads: () => removePayloads(db, blobs, ingestLog),
    onDeleted: (listener) => void listeners.push(listener),
    [Symbol.asyncDispose]: () => keepUp[Symbol.asyncDispose](),
  };
}
