/** Ingest: uploads from machines and clients are checked, stored durably and only then acknowledged. All later stages read the log. */
import type { ClockAndLog } from '@platform/base';
import type { ServiceBinding } from '@platform/rpc/server';
import type { AcceptDeps } from './accept-upload.ts';
import { createBackpressure, type StoreProgress, type UploadsSlowed } from './backpressure/backpressure.ts';
import { createFreeSpace } from './disk/free-space.ts';
import { truncateStep } from './log/truncate-step.ts';
import type { Place } from './place.ts';
import { uploadBindings } from './rpc.ts';
import { defaultIngestSettings, type IngestSettings } from './settings.ts';
import { type UploadRoute, uploadRoute } from './staged/body-route.ts';
import { type StagedLimits, StagedUploads } from './staged/staged-uploads.ts';
import { uploadServiceBinding } from './staged/upload-rpc.ts';

export interface IngestDeps<P>
  extends ClockAndLog,
    Pick<AcceptDeps, 'ingestLog' | 'blobs' | 'reportGap' | 'findDeleted'> {
  /** Throws unauthenticated, not_found (no such part) or permission_denied (not this caller's part). */
  readonly authorizeUpload: (principal: P, partId: string) => Promise<Place>;
  /** See UploadRpcDeps. */
  readonly heard: (principal: P, partId: string) => void;
  /** Whether features other than the log keep a payload at this path. */
  readonly keepsBlob: (path: string) => Promise<boolean>;
  /** Usually freeBytesOf(data directory) (I13). */
  readonly freeBytes: () => Promise<number>;
  /** Usually freeInodesOf(data directory). */
  readonly freeInodes: () => Promise<number>;
  /** Seals the current readings soon, so that the log can be truncated: for a full disk. */
  readonly sealSoon: () => void;
  /** The store that turns readings into rows. */
  readonly store: StoreProgress;
  readonly settings?: Partial<IngestSettings>;
  /** Where large uploads are staged: on the same disk as the payloads. */
  readonly stagingFolder: string;
  readonly stagedLimits?: StagedLimits;
}

export interface StoredTotals {
  uploads: number;
  /** Tabular readings. */
  readings: number;
  /** Bytes of tabular readings. */
  bytes: number;
}

export interface Ingest<P> {
  readonly bindings: readonly ServiceBinding<P>[];
  /** Accepts long pieces of staged uploads over plain HTTP. */
  readonly uploadRoute: UploadRoute<P>;
  /** The step for `follow` that truncates the log. @param lowWaterMark lowest position that the seal and all cursors have passed (I12) */
  truncateStep(lowWaterMark: () => Promise<number>): (signal: AbortSignal) => Promise<boolean>;
  /** Removes payloads older than an hour that no row names (I4, I14); returns how many. */
  sweepBlobs(): Promise<number>;
  /** Removes abandoned staged uploads; returns how many. */
  expireStaged(): Promise<number>;
  /** @throws resource_exhausted while the disk is too full for uploads (I13) */
  requireSpace(): Promise<void>;
  /** What was stored since the start; repeated uploads are not counted. */
  stored(): Readonly<StoredTotals>;
  /** Set while uploads wait because the store is behind. Undefined: no upload has had to wait during the last minute. */
  uploadsSlowed(): UploadsSlowed | undefined;
}

export function createIngest<P>(deps: IngestDeps<P>): Ingest<P> {
  const { ingestLog, blobs, clock, log, authorizeUpload, heard, reportGap, findDeleted, store, keepsBlob } = deps;
  const { freeBytes, freeInodes } = deps;
  // Never less than the unsealed bytes.
  const unsealedBytes = (): number => ingestLog.retainedBytes();
  const { reusableBytes } = ingestLog;
  const space = createFreeSpace({
    ...{ freeBytes, freeInodes, reusableBytes, unsealedBytes },
    seal: deps.sealSoon,
    clock,
    log,
  });
  const settings = { ...defaultIngestSettings, ...deps.settings };
  const backpressure = createBackpressure({ store, settings, clock, log });
  const totals: StoredTotals = { uploads: 0, readings: 0, bytes: 0 };
  const countStored: AcceptDeps['countStored'] = (readings, bytes) => {
    totals.uploads++;
    totals.readings += readings;
    totals.bytes += bytes;
  };
  const staged = new StagedUploads(deps.stagingFolder, clock, deps.stagedLimits);
  const ofUploads = {
    ...{ ingestLog, blobs, clock, reportGap, findDeleted, backpressure, space, authorizeUpload, heard, countStored },
  };
  return {
    bindings: [...uploadBindings<P>(ofUploads), uploadServiceBinding<P>(ofUploads, staged)],
    uploadRoute: uploadRoute<P>(ofUploads, staged, clock),
    expireStaged: () => staged.expire(),
    truncateStep: (lowWaterMark) => truncateStep({ ingestLog, log, clock, lowWaterMark }),
    sweepBlobs: () => blobs.sweep(async (path) => (await ingestLog.hasBlob(path)) || keepsBlob(path)),
    requireSpace: () => space.require(),
    stored: () => totals,
    uploadsSlowed: backpressure.slowed,
  };
}
