import type { FileHandle } from 'node:fs/promises';
import type { UploadMetadata } from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { FileContext } from './file-context.ts';
import type { Fingerprint } from './fingerprint.ts';

export interface ResumableFile extends FileContext {
  readonly handle: FileHandle;
  readonly fingerprint: Fingerprint;
  readonly metadata: UploadMetadata;
}

/** Of one call, and how long an upload may stand still. */
export const callTimeoutMs = 120_000;
