/**
 * Binary data: pictures and files uploaded by machines and clients, which callers find, tag, collect in datasets, download and delete. A
 * follower reads their metadata from the ingest log; their bytes are in the blob store.
 */
import type { ClockAndLog } from '@platform/base';
import type { DataService } from '@platform/proto/platform/app/data/v1/data';
import type { DatasetService } from '@platform/proto/platform/app/dataset/v1/dataset';
import type { CloudHandlers } from '../access/principal.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { LogFollower } from '../follow-log/follow-log.ts';
import type { IngestLog } from '../ingest/log/log.ts';
import type { Route } from '../wire/route.ts';
import type { BinaryOperationDeps } from './binary-deps.ts';
import { changeHandlers } from './change/change-rpc.ts';
import { removePayloads } from './change/delete-files.ts';
import { datasetHandlers, memberHandlers } from './collections/dataset-rpc.ts';
import { sequenceHandlers } from './collections/sequence-rpc.ts';
import { type DownloadDeps, downloadRoute } from './download/download-route.ts';
import { linkHandlers } from './download/link-rpc.ts';
import { createOpenFile, type DamagedFiles } from './download/open-file.ts';
import { isListed } from './find/find-files.ts';
import { findHandlers } from './find/find-rpc.ts';
import { followUploads } from './uploads/follow-uploads.ts';

export interface BinaryDeps
  extends Omit<BinaryOperationDeps, 'caughtUp' | 'blobs'>,
    Pick<DownloadDeps, 'standing' | 'principalOf'>,
    ClockAndLog {
  readonly ingestLog: Pick<
    IngestLog,
    'read' | 'follow' | 'lastPosition' | 'onCommit' | 'markDamaged' | 'recordLoss' | 'losses' | 'forgetBlobs'
  >;
  readonly blobs: Pick<BlobStore, 'get' | 'remove'>;
  /** Undefined: unknown, for example for a deleted part. */
  readonly organizationOf: (partId: string) => string | undefined;
}

export interface Binary extends Pick<LogFollower, 'start' | 'cursor' | 'lag' | 'caughtUp' | 'steps'>, AsyncDisposable {
  /** The remaining methods of DataService are served by other features. */
  readonly dataHandlers: CloudHandlers<typeof DataService>;
  readonly datasetHandlers: CloudHandlers<typeof DatasetService>;
  readonly download: Route;
  /** Ids of files whose payload is damaged or missing, among those requested since the start. */
  damagedFiles(): DamagedFiles;
  /** Whether the file of an upload at this position was stored once and has been deleted since (D13). */
  isDeleted(fileId: string, position: number): Promise<boolean>;
  /** Removes payloads whose rows are deleted; true when there may be more. Not while a backup is taken (I15). */
  removePayloads(): Promise<boolean>;
  /** Calls the listener after a deletion, when `removePayloads` has work. */
  onDeleted(listener: () => void): void;
}

export function createBinary(given: BinaryDeps): Binary {
  const { db, ingestLog, blobs, clock, log } = given;
  const follower = followUploads({ db, ingestLog, clock, log });
  const listeners: (() => void)[] = [];
  const { openFile, damaged } = createOpenFile(given);
  const deps = { ...given, caughtUp: follower.caughtUp, openFile, losses: () => ingestLog.losses() };
  const deleted = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    ...follower,
    dataHandlers: {
      ...findHandlers(deps),
      ...changeHandlers({ ...deps, deleted }),
      ...memberHandlers(deps),
      ...linkHandlers(deps),
      ...sequenceHandlers(deps),
    },
    datasetHandlers: datasetHandlers(deps),
    download: downloadRoute(deps),
    damagedFiles: () => damaged,
    isDeleted: async (fileId, position) => follower.position() >= position && !(await isListed(db, fileId)),
    removePayloads: () => removePayloads(db, blobs, ingestLog),
    onDeleted: (listener) => void listeners.push(listener),
  };
}
